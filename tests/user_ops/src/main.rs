//! A crate with ops of its own, one of each kind, and a program that calls them: `cargo run`.

mod ops;

use tfrt::core::EagerContext;
use tfrt::prelude::*;
use tfrt::queue::create_queue;

fn main() -> Result<()> {
    let host = HostContext::builder()
        .registry(KernelRegistry::from_link().map_err(Error::other)?.into())
        .queue(create_queue("mstd:2").map_err(Error::other)?)
        .build();
    let eager = &EagerContext::builder(host).build()?;

    let x = eager.tensor([-1.0_f32, 0.5, 3.0])?;
    println!(
        "scaled: {:?}",
        eager.to_vec::<f32>(&ops::scale(eager, &x, 10.0)?)?
    );
    let by_name = eager.op("user.Scale")?.call(&[&x])?;
    println!("scaled by default: {:?}", eager.to_vec::<f32>(&by_name)?);

    let (a, b) = (eager.tensor([1, 2])?, eager.tensor([3, 4, 5])?);
    let product = ops::outer(eager, &a, &b)?;
    println!("outer product: {product}");
    println!(
        "larger: {}",
        ops::larger(eager, &a, &eager.tensor([2, 1])?)?
    );
    match ops::larger(eager, &a, &b) {
        Ok(larger) => println!("larger: {larger}"),
        Err(error) => println!("{} at {}", error, error.call().unwrap_or("no call")),
    }

    let matrix = eager.tensor([[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]])?;
    for axis in [0_i64, 1] {
        let sums = ops::sum_along(eager, &matrix, &eager.tensor([axis])?)?;
        println!("sums along {axis}: {:?}", eager.to_vec::<f32>(&sums)?);
    }
    let [least, most] = ops::range(eager, &x)?;
    println!(
        "from {} to {}",
        eager.to_scalar::<f32>(&least)?,
        eager.to_scalar::<f32>(&most)?
    );
    let bound = eager.tensor([1.0_f32])?;
    for bound in [None, Some(&bound)] {
        println!(
            "above: {:?}",
            eager.to_vec::<f32>(&ops::above(eager, &x, bound)?)?
        );
    }
    println!("elements: {}", ops::count_all(eager, &[&x, &a, &matrix])?);

    ops::increment(eager, &a)?;
    println!("incremented: {a}");
    let tickets = ops::new_tickets(eager, 7)?;
    let drawn = [(); 3].map(|()| ops::draw(eager, &tickets));
    for ticket in drawn {
        println!("ticket {}", eager.to_scalar::<i64>(&ticket?)?);
    }
    println!("later: {:?}", eager.to_vec::<f32>(&ops::later(eager, &x)?)?);
    let size = ops::file_size(eager, &eager.tensor("Cargo.toml")?)?;
    println!("there is a file: {}", eager.to_scalar::<i64>(&size)? > 0);
    let ones = eager.op("user.Ones")?.attr("len", 2_i32)?.call(&[])?;
    println!("ones: {:?}", eager.to_vec::<f32>(&ones)?);
    Ok(())
}
