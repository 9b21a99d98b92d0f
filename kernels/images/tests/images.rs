//! Images: decoded, damaged, cropped, resized, and changed pixel by pixel.

use std::sync::Arc;

use image_webp::{ColorType, WebPEncoder};
use tfrt::host::allocator::{HostAllocator, Malloc};
use tfrt::prelude::*;
use tfrt::testing;
use tfrt_images::decode::{DecodeOptions, decode, decode_upright};
use tfrt_images::pixels::{Axis, flip, normalize, to_channels_first};
use tfrt_images::resize::{CropBox, Method, crop, crop_and_resize, resize};
use tfrt_tensor::{DenseHostTensor, Shape};

tfrt::link!(tfrt_images);

fn malloc() -> Arc<dyn HostAllocator> {
    Arc::new(Malloc)
}

fn image(extents: [usize; 3], elements: &[u8]) -> DenseHostTensor {
    DenseHostTensor::from_elements(&malloc(), Shape::new(&extents).unwrap(), elements).unwrap()
}

fn bytes(image: &DenseHostTensor) -> Vec<u8> {
    image.elements::<u8>().unwrap().to_vec()
}

/// Colours that differ in every pixel and channel.
fn colorful([height, width, channels]: [usize; 3]) -> Vec<u8> {
    (0..height * width * channels)
        .map(|index| (index * 37 % 251) as u8)
        .collect()
}

/// Returns a PNG file, not compressed.
fn png(extents: [usize; 3], pixels: &[u8]) -> Vec<u8> {
    let color = [0, 4, 2, 6][extents[2] - 1];
    let row_bytes = extents[1] * extents[2];
    png_of(extents, [8, color], &[], row_bytes, pixels)
}

/// Returns a PNG file of a depth and kind of colours, with more chunks in front of the pixels.
fn png_of(
    [height, width, _]: [usize; 3],
    depth_and_color: [u8; 2],
    chunks: &[(&[u8; 4], &[u8])],
    row_bytes: usize,
    pixels: &[u8],
) -> Vec<u8> {
    let crc = |bytes: &[u8]| {
        let step = |crc: u32, byte: &u8| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1))
            })
        };
        !bytes.iter().fold(!0, step)
    };
    let chunk = |kind: &[u8], data: &[u8]| {
        let body = [kind, data].concat();
        [
            &(data.len() as u32).to_be_bytes(),
            &body[..],
            &crc(&body).to_be_bytes(),
        ]
        .concat()
    };
    let mut header = [(width as u32).to_be_bytes(), (height as u32).to_be_bytes()].concat();
    header.extend(depth_and_color);
    header.extend([0, 0, 0]);
    let rows = pixels.chunks(row_bytes);
    let raw: Vec<u8> = rows.flat_map(|row| [&[0], row].concat()).collect();
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in &raw {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    let len = raw.len() as u16;
    let mut zlib = vec![0x78, 0x01, 1];
    zlib.extend(len.to_le_bytes());
    zlib.extend((!len).to_le_bytes());
    zlib.extend(&raw);
    zlib.extend((b << 16 | a).to_be_bytes());
    let mut file = [&b"\x89PNG\r\n\x1a\n"[..], &chunk(b"IHDR", &header)].concat();
    for (kind, data) in chunks {
        file.extend(chunk(&kind[..], data));
    }
    file.extend(chunk(b"IDAT", &zlib));
    file.extend(chunk(b"IEND", &[]));
    file
}

fn webp([height, width, channels]: [usize; 3], pixels: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let color = if channels == 4 {
        ColorType::Rgba8
    } else {
        ColorType::Rgb8
    };
    WebPEncoder::new(&mut file)
        .encode(pixels, width as u32, height as u32, color)
        .unwrap();
    file
}

#[test]
fn png_and_webp_images_are_decoded_exactly() {
    for channels in 1..=4 {
        let extents = [5, 7, channels];
        let pixels = colorful(extents);
        let decoded = decode(&png(extents, &pixels), 0, &malloc()).unwrap();
        assert_eq!(decoded.shape().dims(), extents);
        assert_eq!(bytes(&decoded), pixels);
    }
    for channels in 3..=4 {
        let extents = [5, 7, channels];
        let pixels = colorful(extents);
        let decoded = decode(&webp(extents, &pixels), 0, &malloc()).unwrap();
        assert_eq!(bytes(&decoded), pixels);
    }
}

#[test]
fn png_images_of_every_depth_and_kind_are_decoded() {
    let decoded = |file: Vec<u8>| {
        let image = decode(&file, 0, &malloc()).unwrap();
        (image.shape().dims().to_vec(), bytes(&image))
    };
    // One bit for each pixel.
    let bits = png_of([1, 3, 1], [1, 0], &[], 1, &[0b1010_0000]);
    assert_eq!(decoded(bits), (vec![1, 3, 1], vec![255, 0, 255]));
    let deep = png_of([1, 2, 1], [16, 0], &[], 4, &[0x12, 0x34, 0xfe, 0xff]);
    assert_eq!(decoded(deep), (vec![1, 2, 1], vec![0x12, 0xfe]));
    let palette = (b"PLTE", &[1, 2, 3, 4, 5, 6][..]);
    let indexed = png_of([1, 2, 1], [8, 3], &[palette], 2, &[1, 0]);
    assert_eq!(decoded(indexed), (vec![1, 2, 3], vec![4, 5, 6, 1, 2, 3]));
    let transparency = (b"tRNS", &[9][..]);
    let chunks = [palette, transparency];
    let transparent = png_of([1, 2, 1], [8, 3], &chunks, 2, &[1, 0]);
    let expected = vec![4, 5, 6, 255, 1, 2, 3, 9];
    assert_eq!(decoded(transparent), (vec![1, 2, 4], expected));
}

#[test]
fn jpeg_images_are_as_libjpeg_decodes_them_within_a_few_units() {
    let (mut sum, mut num_samples) = (0.0, 0);
    for (file, expected) in [
        (
            &include_bytes!("../../tests/images/baseline.jpg")[..],
            &include_bytes!("../../tests/images/baseline.rgb")[..],
        ),
        (
            include_bytes!("../../tests/images/progressive.jpg"),
            include_bytes!("../../tests/images/progressive.rgb"),
        ),
        (
            include_bytes!("../../tests/images/subsampled.jpg"),
            include_bytes!("../../tests/images/subsampled.rgb"),
        ),
        (
            include_bytes!("../../tests/images/grey.jpg"),
            include_bytes!("../../tests/images/grey.rgb"),
        ),
    ] {
        let decoded = bytes(&decode(file, 3, &malloc()).unwrap());
        assert_eq!(decoded.len(), expected.len());
        let differences = decoded.iter().zip(expected).map(|(a, b)| a.abs_diff(*b));
        assert!(differences.clone().max() <= Some(3));
        sum += differences.map(f64::from).sum::<f64>();
        num_samples += expected.len();
    }
    let mean = sum / num_samples as f64;
    assert!(mean < 0.5, "mean {mean}");
    let grey = decode(include_bytes!("../../tests/images/grey.jpg"), 0, &malloc()).unwrap();
    assert_eq!(grey.shape().dims()[2], 1);
}

/// Returns EXIF data with two fields, of which the second is the orientation.
fn exif(number: u16, is_little: bool) -> Vec<u8> {
    let short = |number: u16| match is_little {
        true => number.to_le_bytes(),
        false => number.to_be_bytes(),
    };
    let long = |number: u32| match is_little {
        true => number.to_le_bytes(),
        false => number.to_be_bytes(),
    };
    let mut data = if is_little { b"II*\0" } else { b"MM\0*" }.to_vec();
    data.extend(long(10));
    data.extend([0, 0]);
    data.extend(short(2));
    for (tag, value) in [(0x0100, 77), (0x0112, number)] {
        data.extend(short(tag));
        data.extend(short(3));
        data.extend(long(1));
        data.extend(short(value));
        data.extend([0, 0]);
    }
    data.extend(long(0));
    data
}

#[test]
fn images_stand_upright_as_their_exif_data_say() {
    let expected: [(u16, [usize; 2], [u8; 6]); 10] = [
        (0, [2, 3], [0, 1, 2, 3, 4, 5]),
        (1, [2, 3], [0, 1, 2, 3, 4, 5]),
        (2, [2, 3], [2, 1, 0, 5, 4, 3]),
        (3, [2, 3], [5, 4, 3, 2, 1, 0]),
        (4, [2, 3], [3, 4, 5, 0, 1, 2]),
        (5, [3, 2], [0, 3, 1, 4, 2, 5]),
        (6, [3, 2], [3, 0, 4, 1, 5, 2]),
        (7, [3, 2], [5, 2, 4, 1, 3, 0]),
        (8, [3, 2], [2, 5, 1, 4, 0, 3]),
        (9, [2, 3], [0, 1, 2, 3, 4, 5]),
    ];
    let stored = [0, 1, 2, 3, 4, 5];
    for (number, extents, pixels) in expected {
        for is_little in [false, true] {
            let chunk = exif(number, is_little);
            let file = png_of([2, 3, 1], [8, 0], &[(b"eXIf", &chunk)], 3, &stored);
            let upright = decode_upright(&file, 0, &malloc()).unwrap();
            assert_eq!(upright.shape().dims()[..2], extents, "{number}");
            assert_eq!(bytes(&upright), pixels, "{number}");
            assert_eq!(bytes(&decode(&file, 0, &malloc()).unwrap()), stored);
        }
    }
    // Damaged data are none.
    let whole = exif(6, true);
    for len in 0..whole.len() {
        let file = png_of([2, 3, 1], [8, 0], &[(b"eXIf", &whole[..len])], 3, &stored);
        let Ok(upright) = decode_upright(&file, 0, &malloc()) else {
            continue;
        };
        let is_turned = bytes(&upright) != stored;
        assert!(!is_turned || len >= whole.len() - 6, "{len}");
    }
}

#[test]
fn other_formats_have_exif_data_too() {
    let turned = |file: &[u8]| {
        let [stored, upright] = [decode, decode_upright].map(|decode| {
            let image = decode(file, 3, &malloc()).unwrap();
            image.shape().to_array::<3>().unwrap()
        });
        assert_ne!(stored[0], stored[1]);
        [upright[1], upright[0], 3] == stored
    };
    let exif = exif(6, false);
    let jpeg = &include_bytes!("../../tests/images/baseline.jpg")[..];
    let len = (exif.len() + 8) as u16;
    let segment = [&[0xff, 0xe1][..], &len.to_be_bytes(), b"Exif\0\0", &exif].concat();
    assert!(turned(&[&jpeg[..2], &segment, &jpeg[2..]].concat()));
    let mut webp = Vec::new();
    let mut encoder = WebPEncoder::new(&mut webp);
    encoder.set_exif_metadata(exif);
    let pixels = colorful([2, 3, 3]);
    encoder.encode(&pixels, 3, 2, ColorType::Rgb8).unwrap();
    assert!(turned(&webp));
}

/// JPEG files of 28 by 90 pixels. The rows of the last one are not decoded one after the other.
const TALL: [&[u8]; 5] = [
    include_bytes!("../../tests/images/tall.jpg"),
    include_bytes!("../../tests/images/tall_restarts.jpg"),
    include_bytes!("../../tests/images/tall_half.jpg"),
    include_bytes!("../../tests/images/tall_grey.jpg"),
    include_bytes!("../../tests/images/tall_progressive.jpg"),
];

#[test]
fn a_part_of_a_file_is_as_if_it_were_decoded_first() {
    let png = png([90, 28, 3], &colorful([90, 28, 3]));
    let exif = exif(6, false);
    let len = (exif.len() + 8) as u16;
    let segment = [&[0xff, 0xe1][..], &len.to_be_bytes(), b"Exif\0\0", &exif].concat();
    let turned = [&TALL[0][..2], &segment, &TALL[0][2..]].concat();
    let files = TALL.iter().copied();
    for (number, file) in files.chain([&png[..], &turned]).enumerate() {
        for options in [
            DecodeOptions::default(),
            DecodeOptions {
                channels: 1,
                dct_scale: 2,
                ..DecodeOptions::default()
            },
            DecodeOptions {
                channels: 4,
                is_upright: true,
                ..DecodeOptions::default()
            },
        ] {
            let whole = options.decode(file, &malloc()).unwrap();
            let [height, width, _] = whole.shape().to_array::<3>().unwrap();
            for bottom in 1..=height {
                let region = CropBox {
                    top: bottom / 3,
                    left: 5,
                    height: bottom - bottom / 3,
                    width: width - 7,
                };
                let part = |region| {
                    let new = [bottom, 9];
                    let method = Method::Nearest;
                    options.decode_crop_and_resize(file, region, new, method, &malloc())
                };
                let expected =
                    crop_and_resize(&whole, region, [bottom, 9], Method::Nearest, &malloc());
                assert_eq!(
                    bytes(&part(region).unwrap()),
                    bytes(&expected.unwrap()),
                    "file {number}, {options:?}, {region:?}"
                );
            }
            // What lies outside is measured against the whole image.
            let below = CropBox {
                top: 3,
                left: 0,
                height,
                width,
            };
            let found =
                options.decode_crop_and_resize(file, below, [1, 1], Method::Area, &malloc());
            assert_eq!(
                found.unwrap_err().message(),
                format!(
                    "expected a region within an image of {height} rows and {width} columns, found \
                     {height} rows from row 3 and {width} columns from column 0"
                )
            );
            let right = CropBox {
                top: 0,
                left: 1,
                height: 2,
                width,
            };
            let found =
                options.decode_crop_and_resize(file, right, [1, 1], Method::Area, &malloc());
            assert_eq!(
                found.unwrap_err().message(),
                format!(
                    "expected a region within an image of {height} rows and {width} columns, found \
                     2 rows from row 0 and {width} columns from column 1"
                )
            );
        }
    }
}

#[test]
fn rows_below_a_part_are_not_decoded() {
    for file in &TALL[..4] {
        let whole = decode(file, 0, &malloc()).unwrap();
        // Ones at the end of the coded pixels, in front of the mark that ends the file: no code
        // consists of ones alone.
        let mut damaged = file.to_vec();
        let end = file.len() - 2;
        let (pairs, _) = damaged[end - 40..end].as_chunks_mut::<2>();
        pairs.fill([0xff, 0x00]);
        assert!(decode(&damaged, 0, &malloc()).is_err());
        let region = CropBox {
            top: 0,
            left: 0,
            height: 10,
            width: 28,
        };
        let found = DecodeOptions::default().decode_crop_and_resize(
            &damaged,
            region,
            [10, 28],
            Method::Nearest,
            &malloc(),
        );
        let expected = crop(&whole, region, &malloc()).unwrap();
        assert_eq!(bytes(&found.unwrap()), bytes(&expected));
    }
}

#[test]
fn parts_of_damaged_files_are_errors_or_parts_and_never_a_panic() {
    let options = DecodeOptions {
        is_upright: true,
        dct_scale: 2,
        ..DecodeOptions::default()
    };
    let region = CropBox {
        top: 1,
        left: 0,
        height: 4,
        width: 3,
    };
    let part =
        |file: &[u8]| options.decode_crop_and_resize(file, region, [2, 2], Method::Area, &malloc());
    for file in TALL {
        assert!(part(file).is_ok());
        // Every byte, in one of its bits each.
        for (index, bit) in (0..file.len()).zip((0..8).cycle()) {
            let mut damaged = file.to_vec();
            damaged[index] ^= 1 << bit;
            if let Ok(part) = part(&damaged) {
                assert_eq!(part.shape().dims()[..2], [2, 2]);
            }
        }
        for len in (0..file.len()).step_by(7) {
            assert!(part(&file[..len]).is_err(), "{len} of {} bytes", file.len());
        }
    }
}

#[test]
fn a_reduced_image_is_the_means_of_blocks() {
    let files = TALL.iter().map(|file| file.to_vec());
    let grey_with_alpha = png([11, 13, 2], &colorful([11, 13, 2]));
    for file in files.chain([grey_with_alpha, png([1, 9, 4], &colorful([1, 9, 4]))]) {
        let whole = decode(&file, 0, &malloc()).unwrap();
        let [height, width, channels] = whole.shape().to_array::<3>().unwrap();
        let pixels = bytes(&whole);
        for dct_scale in [1, 2, 4, 8] {
            let options = DecodeOptions {
                dct_scale,
                ..DecodeOptions::default()
            };
            let reduced = options.decode(&file, &malloc()).unwrap();
            let extents = [
                height.div_ceil(dct_scale),
                width.div_ceil(dct_scale),
                channels,
            ];
            assert_eq!(reduced.shape().dims(), extents);
            for (index, &found) in bytes(&reduced).iter().enumerate() {
                let place = [index / channels / extents[1], index / channels % extents[1]];
                let [top, left] = place.map(|place| place * dct_scale);
                let block = (top..height.min(top + dct_scale)).flat_map(|row| {
                    let columns = left..width.min(left + dct_scale);
                    columns.map(move |column| (row * width + column) * channels)
                });
                let block: Vec<f64> = block
                    .map(|pixel| pixels[pixel + index % channels].into())
                    .collect();
                let mean = block.iter().sum::<f64>() / block.len() as f64;
                assert_eq!(
                    f64::from(found),
                    (mean + 0.5).floor(),
                    "{dct_scale}: {index}"
                );
            }
            // Where the blocks are whole, that is what resizing by area does, but for rounding.
            let region = CropBox {
                top: 0,
                left: 0,
                height: height / dct_scale * dct_scale,
                width: width / dct_scale * dct_scale,
            };
            let new = [height / dct_scale, width / dct_scale];
            if new[0] * new[1] > 0 {
                let area = crop_and_resize(&whole, region, new, Method::Area, &malloc()).unwrap();
                let of_blocks = CropBox {
                    height: new[0],
                    width: new[1],
                    ..region
                };
                let reduced = crop(&reduced, of_blocks, &malloc()).unwrap();
                let (area, reduced) = (bytes(&area), bytes(&reduced));
                let pairs = area.iter().zip(&reduced);
                assert!(pairs.map(|(a, b)| a.abs_diff(*b)).max() <= Some(1));
            }
        }
    }
    for dct_scale in [0, 3, 16] {
        let options = DecodeOptions {
            dct_scale,
            ..DecodeOptions::default()
        };
        let error = options.decode(TALL[0], &malloc()).unwrap_err();
        assert_eq!(
            error.message(),
            format!("expected a `dct_scale` of 1, 2, 4 or 8, found {dct_scale}")
        );
    }
}

#[test]
fn channels_are_converted_as_asked() {
    let convert = |from: &[u8], channels| {
        let file = png([1, 1, from.len()], from);
        bytes(&decode(&file, channels, &malloc()).unwrap())
    };
    assert_eq!(convert(&[7], 3), [7, 7, 7]);
    assert_eq!(convert(&[7, 9], 4), [7, 7, 7, 9]);
    assert_eq!(convert(&[7, 9], 3), [7, 7, 7]);
    assert_eq!(convert(&[10, 20, 30], 4), [10, 20, 30, 255]);
    assert_eq!(convert(&[10, 20, 30, 40], 3), [10, 20, 30]);
    assert_eq!(convert(&[255, 255, 255], 1), [255]);
    assert_eq!(convert(&[255, 0, 0], 1), [76]);
}

#[test]
fn what_is_no_image_or_too_large_is_refused() {
    let error = |data: &[u8], channels| decode(data, channels, &malloc()).unwrap_err();
    assert_eq!(
        error(b"%PDF-1.7", 0).message(),
        "expected an image in JPEG, PNG, WebP, GIF or BMP format, found other bytes"
    );
    let file = png([1, 1, 1], &[0]);
    assert_eq!(
        error(&file, 2).message(),
        "expected 0, 1, 3 or 4 channels, found 2"
    );
    // The header claims many pixels; its checksum is that of the claim.
    let huge = png([1, 1, 1], &[0]);
    let claimed = png([65_535, 65_535, 1], &[]);
    let huge = [&claimed[..33], &huge[33..]].concat();
    let message = error(&huge, 0);
    assert_eq!(
        message.message(),
        "a PNG image of 65535 × 65535 pixels is too large: expected at most 67108864 pixels"
    );
}

#[test]
fn damaged_images_are_errors_or_images_and_never_a_panic() {
    let extents = [4, 5, 3];
    let pixels = colorful(extents);
    let files = [
        ("PNG", png(extents, &pixels)),
        ("WebP", webp(extents, &pixels)),
        (
            "JPEG",
            include_bytes!("../../tests/images/grey.jpg").to_vec(),
        ),
        (
            "JPEG",
            include_bytes!("../../tests/images/progressive.jpg").to_vec(),
        ),
        (
            "JPEG",
            include_bytes!("../../tests/images/subsampled.jpg").to_vec(),
        ),
    ];
    for (format, file) in files {
        let whole = bytes(&decode(&file, 0, &malloc()).unwrap());
        // The decoders do without the last chunk of a PNG file, which has no data, and without the
        // padding at the end of a WebP file.
        let num_needed = file.len()
            - match format {
                "PNG" => 12,
                "WebP" => 1,
                _ => 0,
            };
        for len in 0..num_needed {
            let decoded = decode(&file[..len], 0, &malloc());
            assert!(decoded.is_err(), "{format}: {len} of {} bytes", file.len());
        }
        for bit in 0..file.len() * 8 {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let Ok(image) = decode(&damaged, 0, &malloc()) else {
                continue;
            };
            assert!((1..=4).contains(&image.shape().dims()[2]));
            // Every chunk of a PNG file has a checksum.
            assert!(format != "PNG" || bytes(&image) == whole, "PNG: bit {bit}");
        }
    }
}

#[test]
fn parts_of_images_are_their_pixels() {
    let whole = image([3, 4, 2], &(0..24).collect::<Vec<u8>>());
    let region = |top, left, height, width| CropBox {
        top,
        left,
        height,
        width,
    };
    let part = crop(&whole, region(1, 2, 2, 1), &malloc()).unwrap();
    assert_eq!(
        (part.shape().dims(), bytes(&part)),
        (&[2, 1, 2][..], vec![12, 13, 20, 21])
    );
    for wrong in [
        region(2, 0, 2, 1),
        region(0, 4, 1, 1),
        region(usize::MAX, 0, 2, 1),
    ] {
        assert!(crop(&whole, wrong, &malloc()).is_err());
    }
    let error = crop(&whole, region(0, 3, 1, 2), &malloc()).unwrap_err();
    assert_eq!(
        error.message(),
        "expected a region within an image of 3 rows and 4 columns, found 1 rows from row 0 and 2 \
         columns from column 3"
    );
}

/// Bilinear interpolation with half-pixel centres, in numbers of 64 bits.
fn bilinear(old: [usize; 3], pixels: &[u8], new: [usize; 2]) -> Vec<f64> {
    let [height, width, channels] = old;
    let tap = |place: usize, old: usize, new: usize| {
        let source = (place as f64 + 0.5) * old as f64 / new as f64 - 0.5;
        let source = source.clamp(0.0, (old - 1) as f64);
        let low = source as usize;
        (low, (low + 1).min(old - 1), source - low as f64)
    };
    let mut out = Vec::new();
    for row in 0..new[0] {
        let (top, bottom, down) = tap(row, height, new[0]);
        for column in 0..new[1] {
            let (left, right, across) = tap(column, width, new[1]);
            for channel in 0..channels {
                let at = |row: usize, column: usize| {
                    f64::from(pixels[(row * width + column) * channels + channel])
                };
                let upper = at(top, left) * (1.0 - across) + at(top, right) * across;
                let lower = at(bottom, left) * (1.0 - across) + at(bottom, right) * across;
                out.push(upper * (1.0 - down) + lower * down);
            }
        }
    }
    out
}

#[test]
fn bilinear_resizing_follows_the_half_pixel_rule() {
    for channels in 1..=4 {
        let old = [6, 9, channels];
        let pixels = colorful(old);
        for new in [[6, 9], [12, 20], [5, 7], [1, 1], [3, 30]] {
            let resized = resize(&image(old, &pixels), new, Method::Bilinear, &malloc()).unwrap();
            assert_eq!(resized.shape().dims(), [new[0], new[1], channels]);
            for (found, expected) in bytes(&resized).iter().zip(bilinear(old, &pixels, new)) {
                let difference = (f64::from(*found) - expected).abs();
                assert!(
                    difference <= 1.01,
                    "{found} and {expected}, {old:?} to {new:?}"
                );
            }
        }
    }
}

#[test]
fn other_methods_are_what_their_names_say() {
    let four = image([2, 2, 1], &[0, 100, 200, 60]);
    let resized = |method, new| bytes(&resize(&four, new, method, &malloc()).unwrap());
    assert_eq!(resized(Method::Area, [1, 1]), [90]);
    assert_eq!(
        resized(Method::Nearest, [4, 2]),
        [0, 100, 0, 100, 200, 60, 200, 60]
    );
    assert_eq!(resized(Method::Bicubic, [2, 2]), [0, 100, 200, 60]);
    let error = resize(&four, [0, 5], Method::Area, &malloc()).unwrap_err();
    assert_eq!(
        error.message(),
        "expected a new size of 1 to 67108864 pixels, found 0 rows and 5 columns"
    );
}

#[test]
fn a_part_is_resized_as_if_it_were_cut_out_first() {
    let old = [8, 8, 3];
    let whole = image(old, &colorful(old));
    let region = CropBox {
        top: 1,
        left: 2,
        height: 4,
        width: 5,
    };
    for method in [
        Method::Nearest,
        Method::Bilinear,
        Method::Bicubic,
        Method::Area,
    ] {
        let part = crop(&whole, region, &malloc()).unwrap();
        let expected = resize(&part, [3, 7], method, &malloc()).unwrap();
        let found = crop_and_resize(&whole, region, [3, 7], method, &malloc()).unwrap();
        assert_eq!(bytes(&found), bytes(&expected), "{method:?}");
    }
}

#[test]
fn flipping_reverses_rows_or_columns() {
    let whole = image([2, 2, 2], &[1, 2, 3, 4, 5, 6, 7, 8]);
    let flipped = |axis| bytes(&flip(&whole, axis, &malloc()).unwrap());
    assert_eq!(flipped(Axis::Horizontal), [3, 4, 1, 2, 7, 8, 5, 6]);
    assert_eq!(flipped(Axis::Vertical), [5, 6, 7, 8, 1, 2, 3, 4]);
}

#[test]
fn normalizing_is_by_channel() {
    let whole = image([1, 2, 2], &[0, 100, 200, 50]);
    let normal = normalize(&whole, 0.01, &[0.5, 0.0], &[2.0, 0.5], &malloc()).unwrap();
    assert_eq!(*normal.elements::<f32>().unwrap(), [-0.25, 2.0, 0.75, 1.0]);
    let error = |mean: &[f32], deviation: &[f32]| {
        let error = normalize(&whole, 1.0, mean, deviation, &malloc()).unwrap_err();
        error.message().to_owned()
    };
    assert_eq!(
        error(&[0.0; 3], &[1.0]),
        "expected one mean for each of 2 channels, found 3"
    );
    assert_eq!(
        error(&[0.0], &[0.0]),
        "expected nonzero deviations, found 0"
    );
}

#[test]
fn bytes_are_normalized_as_the_numbers_that_they_are() {
    let mean = [0.485, 0.456, 0.406, 0.0, 1.0];
    let deviation = [0.229, 0.224, 0.225, 3.0, -7.0];
    for channels in 1..=5 {
        let elements: Vec<u8> = (0..256 * channels)
            .map(|index| (index % 251) as u8)
            .collect();
        let whole = image([16, 16, channels], &elements);
        let (mean, deviation) = (&mean[..channels], &deviation[..channels]);
        let found = normalize(&whole, 1.0 / 255.0, mean, deviation, &malloc()).unwrap();
        let expected = elements.iter().enumerate().map(|(index, &element)| {
            let channel = index % channels;
            (f32::from(element) * (1.0 / 255.0) - mean[channel]) / deviation[channel]
        });
        let expected: Vec<f32> = expected.collect();
        assert_eq!(*found.elements::<f32>().unwrap(), expected, "{channels}");
    }
}

#[test]
fn channels_first_are_planes() {
    let whole = image([1, 3, 2], &[1, 10, 2, 20, 3, 30]);
    let planes = to_channels_first(&whole, &malloc()).unwrap();
    assert_eq!(planes.shape().dims(), [2, 1, 3]);
    assert_eq!(bytes(&planes), [1, 2, 3, 10, 20, 30]);
}

#[test]
fn a_program_prepares_an_image() {
    const PROGRAM: &str = "
        func @prepare(%file: !tfrt.string, %zero: i64, %two: i64) -> !t.tensor {
          %image = tfrt_image.decode %file { channels = 3 : i64 }
          %small = tfrt_image.crop_and_resize %image, %zero, %zero, %two, %two, %two, %two { method = \"area\" }
          %mirrored = tfrt_image.flip %small { axis = \"horizontal\" }
          %normal = tfrt_image.normalize %mirrored { deviation = [1.0 : f32], mean = [0.0 : f32, 1.0 : f32, 2.0 : f32], scale = 1.0 : f32 }
          %planes = tfrt_image.to_channels_first %normal
          tfrt.return %planes : !t.tensor
        }";
    let file = png([2, 2, 1], &[10, 20, 30, 40]);
    let file = testing::value_from(move || ByteString::from(&file[..]));
    let arguments = (file, 0_i64, 2_i64);
    let outcome = testing::program(PROGRAM).call("prepare", arguments);
    outcome.with_value(0, |tensor: &DenseHostTensor| {
        let found = tensor.elements::<f32>().unwrap().to_vec();
        assert_eq!(
            found,
            [
                20.0, 10.0, 40.0, 30.0, 19.0, 9.0, 39.0, 29.0, 18.0, 8.0, 38.0, 28.0
            ]
        );
    });
}

#[test]
fn a_program_decodes_a_part_of_a_file() {
    const PROGRAM: &str = "
        func @part(%file: !tfrt.string, %one: i64, %two: i64) -> !t.tensor {
          %part = tfrt_image.decode_crop_and_resize %file, %one, %one, %one, %two, %two, %two { channels = 3 : i64, dct_scale = 2 : i64, method = \"nearest\", upright = true }
          tfrt.return %part : !t.tensor
        }
        func @small(%file: !tfrt.string, %one: i64, %two: i64) -> !t.tensor {
          %small = tfrt_image.decode %file { dct_scale = 4 : i64 }
          tfrt.return %small : !t.tensor
        }
        func @wrong(%file: !tfrt.string, %one: i64, %two: i64) -> !t.tensor {
          %small = tfrt_image.decode %file { dct_scale = -4 : i64 }
          tfrt.return %small : !t.tensor
        }";
    let file = png([4, 6, 1], &colorful([4, 6, 1]));
    let call = |function| {
        let file = file.clone();
        let file = testing::value_from(move || ByteString::from(&file[..]));
        testing::program(PROGRAM).call(function, (file, 1_i64, 2_i64))
    };
    let whole = decode(&file, 0, &malloc()).unwrap();
    let mean = |top: usize, left: usize, side: usize| {
        let (pixels, mut sum) = (bytes(&whole), 0.0);
        for row in top..top + side {
            for column in left..left + side {
                sum += f64::from(pixels[row * 6 + column]);
            }
        }
        (sum / (side * side) as f64 + 0.5).floor() as u8
    };
    call("part").with_value(0, |tensor: &DenseHostTensor| {
        let row = [[mean(2, 2, 2); 3], [mean(2, 4, 2); 3]].concat();
        assert_eq!(bytes(tensor), [&row[..], &row].concat());
    });
    call("small").with_value(0, |tensor: &DenseHostTensor| {
        assert_eq!(tensor.shape().dims(), [1, 2, 1]);
        assert_eq!(bytes(tensor)[0], mean(0, 0, 4));
    });
    call("wrong").expect_error("expected a `dct_scale` of 1, 2, 4 or 8, found -4");
}
