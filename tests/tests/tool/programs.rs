//! Every program under `programs` is a test.

use libtest_mimic::Trial;
use tfrt::host::device::CpuSpeed;
use tfrt_tests::partitioned;
use tfrt_tests::programs::{self, Gpu};
use tfrt_tests::tool;

pub(crate) fn trials() -> Vec<Trial> {
    let names = match programs::names() {
        Ok(names) => names,
        Err(error) => {
            let unreadable = Trial::test("programs", move || Err(error.into()));
            return vec![unreadable];
        }
    };
    names
        .into_iter()
        .flat_map(|name| {
            let gpus: &[Gpu] = match programs::uses_host_device(&name) {
                true => &[Gpu::Named, Gpu::EmulatedCuda],
                false => &[Gpu::Named],
            };
            gpus.iter().map(move |&gpu| {
                let name = name.clone();
                let test = match gpu {
                    Gpu::Named => name.clone(),
                    Gpu::EmulatedCuda => format!("{name}.cuda"),
                };
                Trial::test(test, move || Ok(programs::check(&name, gpu)?))
            })
        })
        .chain([
            Trial::test("devices.cuda", || Ok(devices_and_libraries_are_listed()?)),
            Trial::test("version.cuda", || Ok(the_version_names_the_libraries()?)),
            Trial::test("distributed-hosts.random", || Ok(partitioned::check()?)),
        ])
        .collect()
}

/// What `tfrt` prints with an argument, over the emulated libraries of CUDA.
fn printed(argument: &str) -> Result<String, String> {
    let directory = programs::directory();
    let mut command = tool::command("tfrt", &directory).map_err(|error| error.to_string())?;
    command
        .arg(argument)
        .env("LD_LIBRARY_PATH", programs::emulated_cuda()?);
    let output = tool::run(command).map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// `tfrt --version` and `tfrt -V`.
fn the_version_names_the_libraries() -> Result<(), String> {
    let (short, long) = (printed("-V")?, printed("--version")?);
    let libraries = long.strip_prefix(&short).unwrap_or_default();
    if short.starts_with("tfrt ")
        && short.lines().count() == 1
        && libraries.starts_with("  libcuda: version 12.8\n  libcublas: version 12.8.0\n")
    {
        return Ok(());
    }
    Err(format!("`-V`:\n{short}`--version`:\n{long}"))
}

/// `tfrt devices`.
fn devices_and_libraries_are_listed() -> Result<(), String> {
    let found = printed("devices")?;
    let device =
        |number, name| format!("  {number}: {name}, 4.00 GiB at 64 GB/s, compute capability 9.0\n");
    let name = "host device behind an emulated driver";
    let expected = format!(
        "CPU: {}\n--gpu=cuda: CUDA\n{}{}  libcuda: version 12.8\n  libcublas: version 12.8.0\n  \
         libcudnn: version 9.10.2\n  libcusolver: version 11.7.2\n  libcufft: version 11.3.3\n  \
         libnccl: version 2.26.2\n\
         --gpu=host: host device\n{}{}",
        CpuSpeed::of_this_machine(),
        device(0, name),
        device(1, name),
        device(0, "host device"),
        device(1, "host device")
    );
    if found == expected {
        return Ok(());
    }
    Err(format!("expected:\n{expected}found:\n{found}"))
}
