//! Batches of images from a folder, with labels from the names of its subfolders.
//!
//! ```console
//! $ cargo run -p tfrt-images --example image_folder
//! 3 batches, 4 dark and 6 bright images
//! $ cargo run -p tfrt-images --example image_folder -- PHOTOS
//! ```
//!
//! Without an argument, the example makes a folder of small images first.

use std::env;
use std::error::Error as StdError;
use std::fs;
use std::path::{Path, PathBuf};

use image_webp::{ColorType, WebPEncoder};
use tfrt::data::BatchComponent;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt_images::decode::decode;
use tfrt_images::pixels::normalize;
use tfrt_images::resize::{Method, resize};
use tfrt_readers::text::list_files_dataset;
use tfrt_tensor::DenseHostTensor;

fn main() -> Result<(), Box<dyn StdError>> {
    let host = HostContext::builder()
        .queue(tfrt::queue::create_queue("mstd:2")?)
        .build();
    let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    let sample = env::args()
        .nth(1)
        .is_none()
        .then(Folder::with_images)
        .transpose()?;
    let folder = match &sample {
        Some(Folder(path)) => path.display().to_string(),
        None => env::args().nth(1).unwrap_or_default(),
    };

    // The labels are the places of the subfolders in their order.
    let mut labels: Vec<String> = fs::read_dir(&folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_, std::io::Error>>()?;
    labels.sort_unstable();
    let label_of = move |path: &Path| {
        let name = path.parent()?.file_name()?.to_str()?;
        labels.iter().position(|label| label == name)
    };

    let allocator = ctx.allocator().clone();
    let prepare = move |path: ByteString| -> Result<(DenseHostTensor, i64)> {
        let path = PathBuf::from(path.to_string());
        let label = label_of(&path).ok_or_else(|| Error::new("an image without a label"))?;
        let file = fs::read(&path).map_err(Error::other)?;
        let image = decode(&file, 3, &allocator)?;
        let image = resize(&image, [32, 32], Method::Bilinear, &allocator)?;
        let image = normalize(&image, 1.0 / 255.0, &[0.5], &[0.5], &allocator)?;
        Ok((image, label as i64))
    };
    let components = [BatchComponent::Tensor, BatchComponent::Scalar(DType::I64)];
    let batches = list_files_dataset(&format!("{folder}/*/*"))?
        .shuffle(1000, 1, 2)?
        .parallel_map(prepare, -1)?
        .batch_with(4, &components, false, false)?
        .prefetch(2)?;

    let (mut num_batches, mut num_dark, mut num_bright) = (0, 0, 0);
    for batch in batches.elements::<(DenseHostTensor, DenseHostTensor), _>(&ctx) {
        let (images, labels) = batch?;
        num_batches += 1;
        let images = images.elements::<f32>()?;
        let num_values = images.len() / labels.num_elements();
        for (image, label) in images
            .chunks(num_values)
            .zip(labels.elements::<i64>()?.iter())
        {
            let is_bright = image.iter().sum::<f32>() > 0.0;
            *(if is_bright {
                &mut num_bright
            } else {
                &mut num_dark
            }) += 1;
            // In the folder that was made here, brightness and label are the same.
            assert!(sample.is_none() || (*label == 0) == is_bright);
        }
    }
    println!("{num_batches} batches, {num_dark} dark and {num_bright} bright images");
    assert!(sample.is_none() || (num_batches, num_dark, num_bright) == (3, 4, 6));
    Ok(())
}

/// A folder that goes away with the example.
struct Folder(PathBuf);

impl Folder {
    /// Images of different sizes: six in the folder `bright`, four in the folder `dark`.
    fn with_images() -> Result<Self, Box<dyn StdError>> {
        let name = format!("tfrt-image-folder-{}", std::process::id());
        let folder = Self(env::temp_dir().join(name));
        for (label, num_images, shade) in [("bright", 6, 200), ("dark", 4, 50)] {
            fs::create_dir_all(folder.0.join(label))?;
            for number in 0..num_images {
                let (width, height) = (20 + number, 40 - number);
                let pixels = vec![shade + number as u8; (width * height * 3) as usize];
                let file = fs::File::create(folder.0.join(label).join(format!("{number}.webp")))?;
                WebPEncoder::new(file).encode(&pixels, width, height, ColorType::Rgb8)?;
            }
        }
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
