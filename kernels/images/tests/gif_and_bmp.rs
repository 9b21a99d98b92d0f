//! GIF and BMP images, which are features.

use std::sync::Arc;

use tfrt::host::allocator::{HostAllocator, Malloc};
use tfrt_images::decode::decode;

fn malloc() -> Arc<dyn HostAllocator> {
    Arc::new(Malloc)
}

#[test]
fn formats_are_told_by_all_bytes_that_mark_them() {
    let others: [&[u8]; 6] = [
        b"BM",
        b"BMW, Audi and others",
        b"BM\0\0\0\0\0\0\0\0\0\0\0\0\x28\0\0",
        b"GIF8",
        b"GIF88a, and more",
        b"GIF89b, and more",
    ];
    for bytes in others {
        let error = decode(bytes, 0, &malloc()).unwrap_err();
        let expected = "expected an image in JPEG, PNG, WebP, GIF or BMP format, found other bytes";
        assert_eq!(error.message(), expected);
    }
}

/// A format whose feature is off names it.
#[cfg(not(all(feature = "gif", feature = "bmp")))]
#[test]
fn a_format_needs_a_feature_and_says_so() {
    let message = |file: &[u8]| {
        let error = decode(file, 0, &malloc()).unwrap_err();
        error.message().to_owned()
    };
    let expected = |format, feature| {
        format!("{format} images need the cargo feature `{feature}` of `tfrt-images`")
    };
    if cfg!(not(feature = "gif")) {
        assert_eq!(message(b"GIF89a"), expected("GIF", "gif"));
    }
    if cfg!(not(feature = "bmp")) {
        let headers = b"BM\0\0\0\0\0\0\0\0\0\0\0\0\x28\0\0\0";
        assert_eq!(message(headers), expected("BMP", "bmp"));
    }
}

#[cfg(all(feature = "gif", feature = "bmp"))]
mod both {
    use super::*;

    /// A recorded image and its pixels.
    fn recorded(name: &str, pixels: &str) -> (Vec<u8>, Vec<u8>) {
        let read = |name: &str| {
            let path = format!("{}/../tests/images/{name}", env!("CARGO_MANIFEST_DIR"));
            std::fs::read(path).unwrap()
        };
        (read(name), read(pixels))
    }

    /// The shape and the pixels of an image.
    fn decoded(file: &[u8], channels: usize) -> (Vec<usize>, Vec<u8>) {
        let image = decode(file, channels, &malloc()).unwrap();
        let pixels = image.elements::<u8>().unwrap().to_vec();
        (image.shape().dims().to_vec(), pixels)
    }

    #[test]
    fn gif_and_bmp_images_are_as_pillow_decodes_them() {
        for (name, pixels) in [
            ("plain.gif", "plain.rgb"),
            ("interlaced.gif", "interlaced.rgb"),
            ("frames.gif", "frames.rgb"),
            ("colors.bmp", "colors.rgb"),
            ("palette.bmp", "palette.rgb"),
            ("bits.bmp", "bits.rgb"),
            ("runs.bmp", "runs.rgb"),
        ] {
            let (file, pixels) = recorded(name, pixels);
            assert_eq!(decoded(&file, 0), (vec![9, 13, 3], pixels), "{name}");
        }
        // Pillow rounds samples of five bits down.
        let (file, pixels) = recorded("top_down.bmp", "top_down.rgb");
        let (shape, found) = decoded(&file, 0);
        assert_eq!(shape, [9, 13, 3]);
        let mut pairs = found.iter().zip(&pixels);
        assert!(pairs.all(|(found, pillow)| found - pillow <= 1));
        for (name, pixels) in [
            ("transparent.gif", "transparent.rgba"),
            ("alpha.bmp", "alpha.rgba"),
        ] {
            let (file, pixels) = recorded(name, pixels);
            assert_eq!(
                decoded(&file, 4),
                (vec![9, 13, 4], pixels.clone()),
                "{name}"
            );
            assert_eq!(decoded(&file, 0), (vec![9, 13, 4], pixels), "{name}");
        }
    }

    #[test]
    fn a_frame_has_its_place_on_the_screen() {
        let (mut file, pixels) = recorded("plain.gif", "plain.rgb");
        // The width and the height of the screen.
        (file[6], file[8]) = (20, 12);
        let (shape, found) = decoded(&file, 0);
        assert_eq!(shape, [12, 20, 4]);
        for (row, line) in found.chunks(20 * 4).enumerate() {
            for (column, pixel) in line.chunks(4).enumerate() {
                let at = (row * 13 + column) * 3;
                match row < 9 && column < 13 {
                    true => assert_eq!(pixel, [&pixels[at..at + 3], &[255]].concat()),
                    false => assert_eq!(pixel[3], 0),
                }
            }
        }
    }

    #[test]
    fn images_that_claim_too_much_are_refused() {
        let (mut file, _) = recorded("plain.gif", "plain.rgb");
        file[6..10].fill(0xff);
        let error = decode(&file, 0, &malloc()).unwrap_err();
        let expected = "a GIF image of 65535 × 65535 pixels is too large: expected at most 67108864 \
                        pixels";
        assert_eq!(error.message(), expected);
        let (mut file, _) = recorded("colors.bmp", "colors.rgb");
        file[18..22].copy_from_slice(&30_000_u32.to_le_bytes());
        file[22..26].copy_from_slice(&30_000_u32.to_le_bytes());
        let error = decode(&file, 0, &malloc()).unwrap_err();
        let expected = "a BMP image of 30000 × 30000 pixels is too large: expected at most 67108864 \
                        pixels";
        assert_eq!(error.message(), expected);
    }

    #[test]
    fn frames_are_at_most_as_large_as_their_screen() {
        let (plain, _) = recorded("plain.gif", "plain.rgb");
        // The left edge, the upper edge, the width and the height of the frame, behind the mark of
        // its beginning.
        let colors = 3 << ((plain[10] & 7) + 1);
        let frame = 13 + colors + 1;
        assert_eq!(plain[frame - 1], b',');
        let with_extents = |screen: [u16; 2], extents: [u16; 2]| {
            let mut file = plain.clone();
            for (at, extents) in [(6, screen), (frame + 4, extents)] {
                file[at..at + 2].copy_from_slice(&extents[0].to_le_bytes());
                file[at + 2..at + 4].copy_from_slice(&extents[1].to_le_bytes());
            }
            decode(&file, 0, &malloc())
        };
        let error = with_extents([1, 1], [8192, 8192]).unwrap_err();
        let expected = "cannot decode a GIF image: expected a frame of at most 1 × 1 pixels";
        assert_eq!(error.message(), expected);
        assert!(with_extents([13, 9], [13, 10]).is_err());
        // A frame that is wider than its screen, and no larger.
        let image = with_extents([9, 13], [13, 9]).unwrap();
        assert_eq!(image.shape().dims(), [13, 9, 4]);
    }

    #[test]
    fn damaged_images_are_errors_or_images_and_never_a_panic() {
        for (name, pixels, num_padding) in [
            // Marks at the end of the codes, of the frame and of the file.
            ("plain.gif", "plain.rgb", 4),
            ("interlaced.gif", "interlaced.rgb", 4),
            ("transparent.gif", "transparent.rgba", 4),
            ("colors.bmp", "colors.rgb", 0),
            ("palette.bmp", "palette.rgb", 0),
            ("bits.bmp", "bits.rgb", 0),
            ("runs.bmp", "runs.rgb", 2),
            ("top_down.bmp", "top_down.rgb", 2),
            ("alpha.bmp", "alpha.rgba", 0),
        ] {
            let (file, _) = recorded(name, pixels);
            let mut num_in_pixels = 0;
            for len in 0..file.len() - num_padding {
                let error = decode(&file[..len], 0, &malloc()).unwrap_err();
                let message = error.message();
                // The mark of the format, and no more.
                if message.ends_with("found other bytes") {
                    assert!(len < 18, "{name}: {len} bytes: {message}");
                    continue;
                }
                let end = format!("found the end of the file at byte {len}");
                // Codes of a GIF that are cut off may be wrong before they end.
                if name.ends_with(".gif") && !message.ends_with(&end) {
                    assert!(
                        message.starts_with("cannot decode a GIF image: "),
                        "{message}"
                    );
                    continue;
                }
                assert!(message.ends_with(&end), "{name}: {len} bytes: {message}");
                let has_pixels = message.contains("more of its pixels");
                assert!(has_pixels || message.contains("more of its headers"));
                num_in_pixels += usize::from(has_pixels);
            }
            // The last bytes are the pixels.
            assert!(
                num_in_pixels >= 30,
                "{name}: {num_in_pixels} bytes of pixels"
            );
            for bit in 0..file.len() * 8 {
                let mut damaged = file.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                if let Ok(image) = decode(&damaged, 0, &malloc()) {
                    assert!((1..=4).contains(&image.shape().dims()[2]));
                }
            }
        }
    }
}
