//! What is done with bytes that nobody vouches for. A target returns if all is well, whatever the
//! bytes, and panics if not.

use tfrt_attr::{AggregateView, AttrEncoder, AttrTypeCode, AttrValue, DenseView, FromAttr};
use tfrt_bef::dump::{DumpOptions, dump};
use tfrt_bef::{BefFile, VerifiedBef, VerifiedFunction};
use tfrt_support::entity::EntityId;

/// Verifies a file, and looks at everything that verification gives the right to look at.
pub fn verify(bytes: &[u8]) {
    let bef = match BefFile::from_bytes(bytes).verify() {
        Ok(bef) => bef,
        Err(error) => {
            assert!(error.offset() <= bytes.len(), "{error}");
            return;
        }
    };
    for function in bef.functions() {
        let found = bef.find_function(function.name);
        assert!(found.is_none_or(|found| found >= function.id));
        if let Ok(body) = bef.function(function.id) {
            read_body(&bef, &body);
        }
    }
    let names: usize = bef.kernels().map(|code| bef.kernel_name(code).len()).sum();
    let types: usize = bef.types().map(|index| bef.type_name(index).len()).sum();
    let num_entries = bef.kernels().len() + bef.types().len();
    assert!(names + types <= num_entries * bytes.len());
    if let Ok(Some(types)) = bef.attribute_types() {
        for (offset, code) in types.iter() {
            let value = tfrt_attr::decode::decode(bef.attributes(), offset.index() as u32, code);
            assert!(value.is_ok(), "{code} at {offset:?}: {value:?}");
        }
    }
    // Damage there is an error value, of which nothing more is asked.
    let _ = bef.attribute_names();
    let _ = bef.register_types();
}

/// Spends every promise of a verified body: with a plain index where the executor has one.
fn read_body(bef: &VerifiedBef, body: &VerifiedFunction) {
    let mut notices = vec![0_u32; body.num_kernels()];
    let mut uses = vec![0_u32; body.num_registers()];
    let mut definitions = vec![0_u32; body.num_registers()];
    for user in body.pseudo_record().users().iter() {
        notices[user.index()] += 1;
    }
    for (register, _) in body.argument_users() {
        definitions[register.index()] += 1;
    }
    for kernel in body.kernels() {
        let record = body.record(kernel);
        assert!(!bef.kernel_name(record.code).contains('\0'));
        for operand in record.operands.iter() {
            uses[operand.index()] += 1;
        }
        for result in record.results.iter() {
            definitions[result.index()] += 1;
        }
        for user in record.users().iter() {
            notices[user.index()] += 1;
        }
        for function in record.functions.iter() {
            let _ = bef.function_entry(function);
        }
        for attribute in record.attributes.iter() {
            read_attribute(bef.attributes(), attribute.index() as u32);
        }
        let place = bef.place(record.location).to_string();
        let debug_name = bef.debug_name(record.location);
        assert!(debug_name.is_none_or(|name| place.contains(&name)));
    }
    for result in body.results() {
        uses[result.index()] += 1;
    }
    assert_eq!(uses, body.use_counts());
    assert!(definitions.iter().all(|&count| count == 1));
    let table = body.kernel_table();
    for (notices, entry) in notices.iter().zip(table).skip(1) {
        assert_eq!(*notices, entry.ready_count());
    }
}

/// Reads whatever is at `offset` as attributes of every kind.
fn read_attribute(section: &[u8], offset: u32) {
    let _ = i64::read(section, offset);
    let _ = bool::read(section, offset);
    let _ = <&str>::read(section, offset);
    let _ = <&[f64]>::read(section, offset);
    if let Ok(dense) = DenseView::read(section, offset) {
        let _ = dense.elements::<i32>();
    }
    if let Ok(aggregate) = AggregateView::read(section, offset) {
        for element in aggregate.iter() {
            assert!(element.decode().is_ok());
        }
    }
}

/// Dumps a file, plainly and with its bytes. A file that is verified has no errors but in what only
/// serves decoding.
pub fn dump_file(bytes: &[u8]) {
    for hex in [false, true] {
        let options = DumpOptions {
            hex,
            ..DumpOptions::default()
        };
        let mut text = Vec::new();
        let num_errors = match dump(bytes, options, &mut text) {
            Ok(num_errors) => num_errors,
            Err(error) => panic!("memory takes any output: {error}"),
        };
        let text = String::from_utf8_lossy(&text);
        assert_eq!(text.matches("\n          error at 0x").count(), num_errors);
        let bef = BefFile::from_bytes(bytes).verify();
        let error = bef.and_then(|bef| bef.verify_functions()).err();
        if let Some(error) = error {
            let line = format!("error at {:#x}: {}", error.offset(), error.detail());
            assert!(text.contains(&line), "{line} is missing in:\n{text}");
        }
    }
}

/// Takes the first byte for a type code and the rest for a section; what decodes must encode and
/// decode to itself.
pub fn attribute(bytes: &[u8]) {
    let Some((&raw, section)) = bytes.split_first() else {
        return;
    };
    let section = tfrt_attr::AlignedBytes::from(section);
    read_attribute(&section, 0);
    let Some(code) = AttrTypeCode::from_raw(raw) else {
        return;
    };
    // The encoding is where a section of its own would have it: at 0 or, behind padding, at 4.
    for offset in [0, 4] {
        let Ok(value) = tfrt_attr::decode::decode(&section, offset, code) else {
            continue;
        };
        again(&value);
    }
}

/// Encodes and decodes a value. A few values cannot be encoded that can be decoded, by another
/// code: symbols in lists.
fn again(value: &AttrValue) {
    let mut encoder = AttrEncoder::new();
    let Ok(offset) = encoder.encode(value) else {
        return;
    };
    let decoded = tfrt_attr::decode::decode(encoder.as_bytes(), offset, value.code());
    assert_eq!(decoded.as_ref(), Ok(value));
}
