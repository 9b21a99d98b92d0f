//! Lowers batch normalization to scalar programs and sums over all dimensions but one.

use tfrt_import::ImportError;
use tfrt_import::program::{Attr, Value};
use tfrt_ir::OpId;

use super::{Lowering, lists};
use crate::model::ElementType;

/// The properties that the three ops share.
struct Normalization {
    element: ElementType,
    dims: Vec<usize>,
    feature: i64,
    /// An instruction that yields `epsilon` in double precision.
    epsilon: String,
}

impl Normalization {
    /// Returns the number of elements of each feature.
    fn count(&self) -> usize {
        let others = self.dims.iter().enumerate();
        let others = others.filter(|(axis, _)| *axis as i64 != self.feature);
        others.fold(1, |product, (_, &extent)| product.saturating_mul(extent))
    }
}

/// Returns an instruction that yields a number in double precision.
fn constant(number: f64) -> String {
    format!("const f64 {:016x}", number.to_bits())
}

impl Lowering<'_> {
    fn normalization(&self, op: OpId) -> Result<Normalization, ImportError> {
        let ty = self.operand(op, 0)?;
        let (element, dims) = (ty.element, ty.static_dims()?);
        let feature = self.int(op, "feature_index")?;
        let is_axis = usize::try_from(feature).is_ok_and(|axis| axis < dims.len());
        if !is_axis {
            return Err(ImportError::new(format!(
                "attribute `feature_index`: expected a dimension below {}, found {feature}",
                dims.len()
            )));
        }
        Ok(Normalization {
            element,
            dims,
            feature,
            epsilon: constant(self.float(op, "epsilon")?),
        })
    }

    /// Broadcasts one number for each feature to all elements.
    fn spread(&mut self, op: OpId, of: &Normalization, x: Value) -> Value {
        self.broadcast(op, x, &of.dims, vec![of.feature])
    }

    /// Sums the elements of each feature.
    fn sum(&mut self, op: OpId, of: &Normalization, x: Value) -> Value {
        let name = of.element.name;
        // All bits of zero are 0 in every element type.
        let zero = self.apply(op, &format!("const {name} 0;ret 0"), &[]);
        let axes = (0..of.dims.len() as i64).filter(|&axis| axis != of.feature);
        let mut attrs = lists(vec![("axes", axes.collect())]);
        attrs.push(("program", Attr::Text("add 0 1;ret 2".to_owned())));
        self.emit_one(op, "hlo.Reduce", &[x, zero], &attrs)
    }

    /// Computes the mean of the elements of each feature.
    fn mean(&mut self, op: OpId, of: &Normalization, x: Value) -> Value {
        let sum = self.sum(op, of, x);
        let count = constant(of.count() as f64);
        let name = of.element.name;
        let program = format!("{count};convert {name} 1;divide 0 2;ret 3");
        self.apply(op, &program, &[sum])
    }

    pub(super) fn batch_norm_inference(
        &mut self,
        op: OpId,
        operands: &[Value],
    ) -> Result<Value, ImportError> {
        let of = self.normalization(op)?;
        let mut all = vec![operands[0]];
        for &operand in &operands[1..] {
            all.push(self.spread(op, &of, operand));
        }
        Ok(self.normalized(op, &of, &all))
    }

    /// Normalizes operands of one shape: input, scale, offset, mean, variance.
    fn normalized(&mut self, op: OpId, of: &Normalization, operands: &[Value]) -> Value {
        let name = of.element.name;
        let epsilon = &of.epsilon;
        let program = format!(
            "{epsilon};convert {name} 5;add 4 6;sqrt 7;subtract 0 3;divide 9 8;multiply 10 1;add 11 2;ret 12"
        );
        self.apply(op, &program, operands)
    }

    pub(super) fn batch_norm_training(
        &mut self,
        op: OpId,
        operands: &[Value],
    ) -> Result<Vec<Value>, ImportError> {
        let of = self.normalization(op)?;
        let x = operands[0];
        let mean = self.mean(op, &of, x);
        let spread_mean = self.spread(op, &of, mean);
        let squares = "subtract 0 1;multiply 2 2;ret 3";
        let squares = self.apply(op, squares, &[x, spread_mean]);
        let variance = self.mean(op, &of, squares);
        let scale = self.spread(op, &of, operands[1]);
        let offset = self.spread(op, &of, operands[2]);
        let spread_variance = self.spread(op, &of, variance);
        let all = [x, scale, offset, spread_mean, spread_variance];
        Ok(vec![self.normalized(op, &of, &all), mean, variance])
    }

    pub(super) fn batch_norm_grad(
        &mut self,
        op: OpId,
        operands: &[Value],
    ) -> Result<Vec<Value>, ImportError> {
        let of = self.normalization(op)?;
        let name = of.element.name;
        let &[x, scale, mean, variance, gradient] = operands else {
            return Err(ImportError::new("expected five operands"));
        };
        let scale = self.spread(op, &of, scale);
        let mean = self.spread(op, &of, mean);
        let variance = self.spread(op, &of, variance);
        // The gradient times the difference from the mean, then divided by the standard deviation.
        let products = self.apply(op, "subtract 1 2;multiply 0 3;ret 4", &[gradient, x, mean]);
        let epsilon = &of.epsilon;
        let program = format!("{epsilon};convert {name} 2;add 1 3;sqrt 4;divide 0 5;ret 6");
        let normalized = self.apply(op, &program, &[products, variance]);
        let scale_gradient = self.sum(op, &of, normalized);
        let offset_gradient = self.sum(op, &of, gradient);
        let product_sum = self.sum(op, &of, products);
        let product_sum = self.spread(op, &of, product_sum);
        let gradient_sum = self.spread(op, &of, offset_gradient);
        // 0: gradient, 1: x, 2: mean, 3: variance, 4: scale, 5: sum of gradients, 6: of products.
        let count = constant(of.count() as f64);
        let program = format!(
            "{epsilon};convert {name} 7;add 3 8;{count};convert {name} 10;subtract 1 2;multiply 0 11;\
             multiply 6 12;divide 14 9;subtract 13 5;subtract 16 15;sqrt 9;divide 4 18;divide 19 11;\
             multiply 20 17;ret 21"
        );
        let all = [
            gradient,
            x,
            mean,
            variance,
            scale,
            gradient_sum,
            product_sum,
        ];
        let x_gradient = self.apply(op, &program, &all);
        Ok(vec![x_gradient, scale_gradient, offset_gradient])
    }
}
