use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::{Array, Int32Array, StringArray};
use arrow_flight::utils::flight_data_to_arrow_batch;
use tfrt_host::allocator::Malloc;
use tfrt_tensor::half::f16;

use super::*;

fn allocator() -> Arc<dyn HostAllocator> {
    Arc::new(Malloc)
}

fn decoded(messages: &[FlightData]) -> Result<DenseHostTensor, Status> {
    let [schema, batch] = messages else {
        panic!("expected two messages, found {}", messages.len());
    };
    TensorSchema::parse(schema)?.decode(batch, &allocator())
}

fn comes_back(tensor: &DenseHostTensor) {
    let messages = encode(tensor).unwrap();
    let found = decoded(&messages).unwrap();
    assert_eq!(found.metadata(), tensor.metadata());
    assert_eq!(
        *found.buffer().read().unwrap(),
        *tensor.buffer().read().unwrap()
    );
}

#[test]
fn tensors_of_all_types_and_shapes_come_back() {
    for dims in [&[][..], &[0], &[3, 0, 2], &[1], &[9], &[2, 3, 4]] {
        let shape = Shape::new(dims).unwrap();
        for dtype in DType::ALL {
            if arrow_type(dtype).is_none() {
                continue;
            }
            let mut tensor = DenseHostTensor::zeroed(&allocator(), dtype, shape.clone()).unwrap();
            let bytes = (0..).map(|position: u32| match dtype {
                // Any other byte is true, too, but comes back as 1.
                DType::I1 => u8::from(position.is_multiple_of(3)),
                _ => position as u8,
            });
            let mut room = tensor.buffer_mut().write().unwrap();
            for (byte, value) in room.iter_mut().zip(bytes) {
                *byte = value;
            }
            drop(room);
            comes_back(&tensor);
        }
    }
    comes_back(&DenseHostTensor::vector(&[f16::NAN, f16::NEG_ZERO]).unwrap());
}

#[test]
fn a_tensor_is_one_row_of_the_canonical_type() {
    let shape = Shape::new(&[2, 1]).unwrap();
    let tensor = DenseHostTensor::from_elements(&allocator(), shape, &[1_i32, 2]).unwrap();
    let messages = encode(&tensor).unwrap();
    let schema = Schema::try_from(&messages[0]).unwrap();
    let field = schema.field(0);
    assert_eq!(
        field.extension_type_name(),
        Some("arrow.fixed_shape_tensor")
    );
    assert_eq!(field.extension_type_metadata(), Some("{\"shape\":[2,1]}"));
    let batch = flight_data_to_arrow_batch(&messages[1], Arc::new(schema), &HashMap::new());
    let batch = batch.unwrap();
    assert_eq!((batch.num_columns(), batch.num_rows()), (1, 1));
    let lists = batch.column(0).as_any();
    let lists = lists.downcast_ref::<FixedSizeListArray>().unwrap();
    let expected: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    assert_eq!(&lists.value(0), &expected);
}

#[test]
fn elements_without_a_type_in_arrow_are_refused() {
    let tensor = DenseHostTensor::zeroed(&allocator(), DType::Bf16, Shape::scalar()).unwrap();
    assert_eq!(
        encode(&tensor).unwrap_err().message(),
        "Arrow has no type for the elements of a tensor of bf16"
    );
}

/// A column of lists of 32-bit integers that says what it is.
fn field(extension: &str, metadata: &str, size: i32) -> Field {
    let element = Arc::new(Field::new_list_field(DataType::Int32, true));
    Field::new("x", DataType::FixedSizeList(element, size), true).with_metadata(HashMap::from([
        (EXTENSION_TYPE_NAME_KEY.to_owned(), extension.to_owned()),
        (EXTENSION_TYPE_METADATA_KEY.to_owned(), metadata.to_owned()),
    ]))
}

fn encoded(fields: Vec<Field>, columns: Vec<ArrayRef>) -> Vec<FlightData> {
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
    batches_to_flight_data(&schema, [&batch]).unwrap()
}

/// Lists of `size` integers, some of which may be missing.
fn lists(size: i32, elements: Vec<Option<i32>>, present: &[bool]) -> ArrayRef {
    let element = Arc::new(Field::new_list_field(DataType::Int32, true));
    let nulls = (!present.iter().all(|is_there| *is_there)).then(|| present.to_vec().into());
    let values: ArrayRef = Arc::new(Int32Array::from(elements));
    Arc::new(FixedSizeListArray::new(element, size, values, nulls))
}

#[test]
fn other_columns_are_refused() {
    let text = |fields: Vec<Field>, columns: Vec<ArrayRef>| {
        decoded(&encoded(fields, columns))
            .unwrap_err()
            .message()
            .to_owned()
    };
    let one = || lists(2, vec![Some(1), Some(2)], &[true]);
    let tensor = || field(EXTENSION, "{\"shape\":[2]}", 2);
    let number = Field::new("n", DataType::Int32, false);
    assert_eq!(
        text(vec![tensor(), tensor()], vec![one(), one()]),
        "expected 1 column, found 2"
    );
    assert_eq!(
        text(vec![number], vec![Arc::new(Int32Array::from(vec![1]))]),
        "column `n`: expected the type `arrow.fixed_shape_tensor`, found `Int32`"
    );
    assert_eq!(
        text(vec![field("arrow.json", "", 2)], vec![one()]),
        "column `x`: expected the type `arrow.fixed_shape_tensor`, found `arrow.json`"
    );
    let string = Field::new("s", DataType::Utf8, false).with_metadata(tensor().metadata().clone());
    assert_eq!(
        text(vec![string], vec![Arc::new(StringArray::from(vec!["a"]))]),
        "column `s`: expected a list of fixed size as the storage of `arrow.fixed_shape_tensor`, \
         found `Utf8`"
    );
    let element = Arc::new(Field::new_list_field(DataType::Utf8, true));
    let strings = Field::new("x", DataType::FixedSizeList(Arc::clone(&element), 1), true)
        .with_metadata(tensor().metadata().clone());
    let column = FixedSizeListArray::new(element, 1, Arc::new(StringArray::from(vec!["a"])), None);
    assert_eq!(
        text(vec![strings], vec![Arc::new(column)]),
        "column `x`: expected elements that are numbers or Booleans, found `Utf8`"
    );
    let start = "malformed metadata of `arrow.fixed_shape_tensor`: ";
    for (metadata, expected) in [
        (
            "{\"shape\":[3]}",
            "a tensor of the shape [3] has 3 elements, and the lists have 2".to_owned(),
        ),
        ("{}", format!("{start}expected a `shape`, found none")),
        (
            "{\"shape\":[-2]}",
            format!("{start}expected numbers as `shape`, found [-2]"),
        ),
        (
            "{\"shape\":2}",
            format!("{start}expected numbers as `shape`, found 2"),
        ),
        (
            "",
            format!("{start}EOF while parsing a value at line 1 column 0"),
        ),
        (
            "{\"shape\":[2,1],\"permutation\":[1,0]}",
            "expected elements in row-major order, found those of the permutation [1, 0]"
                .to_owned(),
        ),
    ] {
        let found = text(vec![field(EXTENSION, metadata, 2)], vec![one()]);
        assert_eq!(found, format!("column `x`: {expected}"));
    }
    let huge = "{\"shape\":[4294967296,4294967296,4294967296]}";
    let found = text(vec![field(EXTENSION, huge, 2)], vec![one()]);
    assert!(found.starts_with("column `x`: "), "{found}");
    // What changes nothing is accepted.
    let named = "{\"shape\":[2],\"permutation\":[0],\"dim_names\":[\"a\"]}";
    let named = decoded(&encoded(vec![field(EXTENSION, named, 2)], vec![one()])).unwrap();
    assert_eq!(*named.elements::<i32>().unwrap(), [1, 2]);
}

#[test]
fn other_batches_are_refused() {
    let text = |column: ArrayRef| {
        let fields = vec![field(EXTENSION, "{\"shape\":[2]}", 2)];
        decoded(&encoded(fields, vec![column]))
            .unwrap_err()
            .message()
            .to_owned()
    };
    let start = "expected a record batch with 1 row, which is the tensor, found";
    let two = lists(2, vec![Some(1); 4], &[true, true]);
    assert_eq!(text(two), format!("{start} 2 rows"));
    assert_eq!(text(lists(2, vec![], &[])), format!("{start} 0 rows"));
    let null = lists(2, vec![Some(1); 2], &[false]);
    assert_eq!(text(null), "expected a tensor, found a null");
    assert_eq!(
        text(lists(2, vec![Some(1), None], &[true])),
        "expected elements, found a null"
    );
    assert_eq!(
        text(lists(2, vec![None, None], &[true])),
        "expected elements, found 2 nulls"
    );
}

#[test]
fn messages_in_another_order_are_refused() {
    let messages = encode(&DenseHostTensor::vector(&[1_i32]).unwrap()).unwrap();
    let empty = FlightData::default();
    let found = TensorSchema::parse(&messages[1]).unwrap_err();
    assert_eq!(
        found.message(),
        "expected the schema, found a message RecordBatch"
    );
    let found = TensorSchema::parse(&empty).unwrap_err();
    assert_eq!(
        found.message(),
        "expected the schema, found a message without a header"
    );
    let schema = TensorSchema::parse(&messages[0]).unwrap();
    for (message, found) in [
        (&messages[0], "a message Schema"),
        (&empty, "a message without a header"),
    ] {
        let status = schema.decode(message, &allocator()).unwrap_err();
        assert_eq!(
            status.message(),
            format!("expected a record batch, found {found}")
        );
    }
}

#[test]
fn damaged_messages_are_errors() {
    let tensor = DenseHostTensor::vector(&[1_i64, 2, 3]).unwrap();
    let messages = encode(&tensor).unwrap();
    let mut seed = 1_u64;
    let mut random = move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    let mut num_errors = 0;
    for round in 0..20_000 {
        let mut damaged = messages.clone();
        let message = &mut damaged[random() % 2];
        let is_body = random() % 4 == 0 && !message.data_body.is_empty();
        let part = match is_body {
            true => &mut message.data_body,
            false => &mut message.data_header,
        };
        let mut bytes = part.to_vec();
        for _ in 0..=random() % 3 {
            let at = random() % bytes.len();
            match random() % 8 {
                0 => bytes.truncate(at.max(1)),
                1 => bytes.insert(at, random() as u8),
                _ => bytes[at] = random() as u8,
            }
        }
        *part = bytes.into();
        let outcome = catch_unwind(AssertUnwindSafe(|| decoded(&damaged)));
        let outcome = outcome.unwrap_or_else(|_| panic!("round {round} panicked"));
        num_errors += usize::from(outcome.is_err());
    }
    assert!(num_errors > 1000, "only {num_errors} errors");
}
