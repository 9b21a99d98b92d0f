//! Names of the author's and names of the expansion do not meet.

use tfrt::prelude::*;
use tfrt::testing;

/// Nothing is in scope here but what is named.
#[no_implicit_prelude]
mod bare {
    use ::tfrt::tfrt_kernel;

    /// A value.
    #[derive(::std::clone::Clone, ::tfrt::Value)]
    #[value("!hygiene.point", display, mutable)]
    pub struct Point(pub i32);

    impl ::std::fmt::Display for Point {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            ::std::fmt::Display::fmt(&self.0, f)
        }
    }

    /// An attribute.
    #[derive(::std::clone::Clone, ::std::marker::Copy, ::tfrt::Attr)]
    pub enum Mode {
        /// One.
        One = 1,
    }

    /// A resource.
    #[derive(::std::default::Default, ::tfrt::Resource)]
    #[resource(host)]
    pub struct Shared;

    /// Takes what there is.
    #[tfrt_kernel("hygiene.bare.{T}", T = [i32], side_effecting, results(a, b))]
    pub fn bare<T: ::tfrt::prelude::Value + ::std::marker::Copy>(
        number: T,
        point: &mut Point,
        _shared: ::tfrt::prelude::Res<Shared>,
        #[attr(default = Mode::One)] mode: Mode,
        #[operand(default = 1)] step: i32,
    ) -> ::std::result::Result<(T, i32), ::tfrt::Error> {
        point.0 += step + mode as i32;
        ::std::result::Result::Ok((number, point.0))
    }

    /// Waits for nothing.
    #[tfrt_kernel("hygiene.bare_later", sync = "hygiene_sync.bare")]
    pub fn bare_later() -> i32 {
        7
    }

    /// Finds its element type.
    #[::tfrt::tfrt_op("hygiene.Bare", T = [i32, f32], metadata = metadata)]
    pub fn op<T: ::tfrt::tensor::Element>(
        op: &[T],
        #[attr(default = 1)] scale: i64,
        #[out] y: &mut [T],
        z: ::std::option::Option<&[T]>,
    ) {
        y.copy_from_slice(z.unwrap_or(op));
        ::std::assert_eq!(scale, 1);
    }

    fn metadata(
        x: &::tfrt::prelude::TensorMetadata,
        _scale: i64,
        _z: ::std::option::Option<&::tfrt::prelude::TensorMetadata>,
    ) -> ::tfrt::prelude::TensorMetadata {
        ::std::clone::Clone::clone(x)
    }

    /// Tells what it is told.
    #[::tfrt::tfrt_op("hygiene.BareRaw", raw, metadata = told)]
    pub fn raw(_call: &mut ::tfrt::core::OpCall<'_>) {}

    fn told(
        query: &::tfrt::core::OpQuery<'_>,
    ) -> ::std::result::Result<::tfrt::prelude::TensorMetadata, ::tfrt::Error> {
        query.operand(0).cloned()
    }

    /// Is polled.
    #[tfrt_kernel("hygiene.bare_async")]
    pub async fn bare_async(number: i32) -> i32 {
        number
    }
}

/// Everything that the expansion could mean is something else here.
mod shadowed {
    #![allow(
        dead_code,
        unused_imports,
        unused_macros,
        reason = "they are in the way"
    )]

    use tfrt::tfrt_kernel;

    struct Result;
    struct Option;
    struct Vec;
    struct Box;
    struct Error;
    struct KernelDescriptor;
    struct OpDef;
    enum Never {
        Some,
        None,
        Ok,
        Err,
    }
    use Never::{Err, None, Ok, Some};
    mod core {}
    mod std {}
    fn drop() {}

    macro_rules! line {
        () => {
            compile_error!("not this one")
        };
    }
    macro_rules! file {
        () => {
            line!()
        };
    }

    /// Has names that adapters have.
    #[tfrt_kernel("hygiene.names")]
    pub fn names(
        kernel: i32,
        frame: i32,
        self_: i32,
        __a0: i32,
        r#type: i32,
        arguments: i32,
    ) -> i32 {
        kernel + frame + self_ + __a0 + r#type + arguments
    }

    /// Has names that adapters have.
    #[tfrt::tfrt_op("hygiene.Names", T = [f32], metadata = told)]
    pub fn op<T: tfrt::tensor::Element>(
        __p1: &[T],
        __v0: &tfrt::tensor::DenseHostTensor,
        r#type: tfrt::tensor::TensorView<'_, T, 1>,
        #[attr] __dtype0: i32,
        #[out] __o0: &mut [T],
    ) {
        let index = usize::try_from(__dtype0).unwrap() + __v0.num_elements();
        __o0.fill(__p1[index]);
        __o0[0] = r#type[[0]];
    }

    fn told(
        x: &tfrt::prelude::TensorMetadata,
        _y: &tfrt::prelude::TensorMetadata,
        _z: &tfrt::prelude::TensorMetadata,
        _number: i32,
    ) -> tfrt::prelude::TensorMetadata {
        x.clone()
    }

    /// Has a name that is a keyword.
    #[tfrt_kernel("hygiene.raw_name", sync = "hygiene_sync.raw_name")]
    pub fn r#match(#[attr] r#type: i32, _unused: i32) -> i32 {
        r#type
    }
}

/// The facade under another path.
mod renamed {
    mod deep {
        pub use tfrt as runtime;
    }

    /// A value.
    #[derive(Clone, tfrt::Value)]
    #[value("!hygiene.renamed", crate = self::deep::runtime)]
    pub struct Renamed(pub i32);

    /// An attribute.
    #[derive(tfrt::Attr)]
    #[attr(crate = self::deep::runtime)]
    pub enum Side {
        /// One.
        Left,
        /// The other.
        Right,
    }

    /// A resource.
    #[derive(Default, tfrt::Resource)]
    #[resource(host, crate = self::deep::runtime)]
    pub struct Global;

    /// Takes all of them.
    #[tfrt::tfrt_kernel("hygiene.renamed", crate = self::deep::runtime)]
    pub fn renamed(
        value: &Renamed,
        #[attr] side: Side,
        _global: &tfrt::prelude::Res<Global>,
    ) -> i32 {
        match side {
            Side::Left => value.0,
            Side::Right => -value.0,
        }
    }
}

#[test]
fn expansions_need_nothing_in_scope() {
    let point = testing::value_from(|| bare::Point(2));
    testing::kernel("hygiene.bare.i32")
        .operands((5, point))
        .run()
        .expect_values((5, 4));
    testing::kernel("hygiene.bare_async")
        .operands((6,))
        .run()
        .expect_value(6);
    assert!(
        KernelRegistry::from_link()
            .unwrap()
            .get("hygiene_sync.bare")
            .unwrap()
            .is_sync()
    );
}

#[test]
fn ops_need_nothing_in_scope() {
    let x = |elements: &'static [f32]| {
        testing::value_from(move || DenseHostTensor::vector(elements).unwrap())
    };
    let outcome = testing::kernel("hygiene.Bare").operands((x(&[1.0]),)).run();
    outcome.with_value(0, |y: &DenseHostTensor| {
        assert_eq!(*y.elements::<f32>().unwrap(), [1.0]);
    });
    let operands = (x(&[1.0, 2.0, 3.0]), x(&[0.0]), x(&[7.0]));
    let outcome = testing::kernel("hygiene.Names")
        .operands(operands)
        .attribute("dtype0", 1)
        .run();
    outcome.with_value(0, |y: &DenseHostTensor| {
        assert_eq!(*y.elements::<f32>().unwrap(), [7.0, 3.0, 3.0]);
    });
}

#[test]
fn names_of_parameters_are_the_authors() {
    testing::kernel("hygiene.names")
        .operands(vec![1, 2, 3, 4, 5, 6])
        .run()
        .expect_value(21);
    let registry = KernelRegistry::from_link().unwrap();
    let names: Vec<_> = registry
        .op("hygiene.names")
        .unwrap()
        .operands
        .iter()
        .map(|operand| operand.name)
        .collect();
    assert_eq!(
        names,
        ["kernel", "frame", "self_", "a0", "type", "arguments"]
    );
    let program = testing::program(
        r#"
        func @main(%a: i32) -> i32 {
          %b = "hygiene.raw_name"(%a) {type = 8 : i32} : (i32) -> i32
          tfrt.return %b : i32
        }
        "#,
    );
    program.call("main", (1,)).expect_value(8);
}

#[test]
fn the_facade_may_be_anywhere() {
    let program = testing::program(
        r#"
        func @main(%a: !hygiene.renamed) -> i32 {
          %b = "hygiene.renamed"(%a) {side = 1 : i32} : (!hygiene.renamed) -> i32
          tfrt.return %b : i32
        }
        "#,
    );
    program
        .call("main", (renamed::Renamed(3),))
        .expect_value(-3);
}

/// A module, a type and a kernel may share a name, as they may without the macro.
mod namesake {
    mod triple {
        use tfrt::prelude::*;

        /// Returns three times a number.
        #[tfrt_kernel("hygiene.triple")]
        pub fn triple(number: i32) -> i32 {
            3 * number
        }
    }

    pub use triple::triple;

    /// A type without a value of its name.
    #[expect(non_camel_case_types, reason = "the name of the function below")]
    pub struct quadruple {
        pub number: i32,
    }

    /// Returns four times a number.
    #[tfrt::tfrt_kernel("hygiene.quadruple", kernel_set = Quadruple)]
    pub fn quadruple(number: i32) -> i32 {
        4 * number
    }
}

#[test]
fn a_kernel_may_have_the_name_of_a_module_or_a_type() {
    assert_eq!(namesake::triple(5), 15);
    assert_eq!(
        namesake::quadruple(5),
        namesake::quadruple { number: 20 }.number
    );
    testing::kernel("hygiene.triple")
        .operands((5,))
        .run()
        .expect_value(15);
    let mut registry = KernelRegistry::new();
    registry.add_all::<namesake::Quadruple>().unwrap();
    assert!(registry.get("hygiene.quadruple").is_some());
}
