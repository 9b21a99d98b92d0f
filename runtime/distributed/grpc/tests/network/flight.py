"""Gets tensors from a task and puts others there, with the Flight client of pyarrow.

    flight.py HOST:PORT

The task has the context 7, where the tensors `matrix`, `scalar` and `empty` wait.
"""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.flight as flight

client = flight.FlightClient("grpc://" + sys.argv[1])


def path(*names):
    return flight.FlightDescriptor.for_path(*names)


def get(key):
    info = client.get_flight_info(path("7", key))
    assert info.total_records == 1, info
    table = client.do_get(info.endpoints[0].ticket).read_all()
    column = table.column(0)
    assert isinstance(column.type, pa.FixedShapeTensorType), column.type
    assert info.schema == table.schema
    elements = column.chunk(0).storage.flatten().to_numpy()
    return elements.reshape(column.type.shape)


def put(key, array, batches=1):
    kind = pa.fixed_shape_tensor(pa.from_numpy_dtype(array.dtype), list(array.shape))
    if array.size == 0:
        # `from_arrays` divides by the size of the lists.
        storage = pa.array([[]], kind.storage_type)
    else:
        values = pa.array(array.ravel(), kind.value_type)
        storage = pa.FixedSizeListArray.from_arrays(values, type=kind.storage_type)
    column = pa.ExtensionArray.from_storage(kind, storage)
    batch = pa.record_batch([column], names=["array"])
    writer, _ = client.do_put(path("7", key), batch.schema)
    with writer:
        for _ in range(batches):
            writer.write_batch(batch)


listed = sorted(info.descriptor.path[1] for info in client.list_flights(b"7"))
assert listed == [b"empty", b"matrix", b"scalar"], listed
matrix = get("matrix")
assert matrix.dtype == np.float32 and matrix.tolist() == [[0, 1, 2], [3, 4, 5]], matrix
scalar = get("scalar")
assert scalar.shape == () and scalar == 0, scalar
empty = get("empty")
assert empty.shape == (0, 4), empty.shape
print("matrix scalar empty: got")

put("i32", np.array([[1, 2], [3, 4]], np.int32))
put("bool", np.array([True, False, True]))
put("f16", np.array([0.5, -1], np.float16))
put("none", np.zeros((3, 0), np.float64))
print("i32 bool f16 empty: put")


def refused(text, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except (pa.ArrowException, flight.FlightError, KeyError, OSError) as error:
        assert text in str(error), error
        return 1
    raise AssertionError(f"expected an error with `{text}`, found none")


def put_numbers():
    batch = pa.record_batch([pa.array([1, 2])], names=["n"])
    writer, _ = client.do_put(path("7", "k"), batch.schema)
    with writer:
        writer.write_batch(batch)


count = refused("Context with id 8 does not exist.", client.get_flight_info, path("8", "k"))
count += refused("found `Int64`", put_numbers)
count += refused("found more messages", put, "k", np.array([1.0]), batches=2)
count += refused("was set twice", put, "i32", np.array([1.0]))
print(f"refused: {count}")
