//! Functions that the standard library lacks.
//!
//! The coefficients of `erf` are those of FreeBSD's msun.

use tfrt_macros::tfrt_device;

use super::double;
use super::single::exp;

/// Returns `1 / (1 + e⁻ˣ)`.
#[tfrt_device(crate = crate)]
pub fn sigmoid(x: f32) -> f32 {
    // The power is at most 1, so that small results are not lost.
    let power = exp(-x.abs());
    (if x < 0.0 { power } else { 1.0 }) / (1.0 + power)
}

/// Returns `1 / √x`, rounded twice.
#[tfrt_device(crate = crate)]
pub fn rsqrt(x: f32) -> f32 {
    1.0 / x.sqrt()
}

/// Returns the exponent of the error function's complement, from 1.25 to 1 / 0.35.
#[tfrt_device(crate = crate)]
fn middle_exponent(s: f64) -> f64 {
    let r = -9.86494403484714822705e-03
        + s * (-6.93858572707181764372e-01
            + s * (-1.05586262253232909814e+01
                + s * (-6.23753324503260060396e+01
                    + s * (-1.62396669462573470355e+02
                        + s * (-1.84605092906711035994e+02
                            + s * (-8.12874355063065934246e+01
                                + s * -9.81432934416914548592e+00))))));
    let q = 1.0
        + s * (1.96512716674392571292e+01
            + s * (1.37657754143519042600e+02
                + s * (4.34565877475229228821e+02
                    + s * (6.45387271733267880336e+02
                        + s * (4.29008140027567833386e+02
                            + s * (1.08635005541779435134e+02
                                + s * (6.57024977031928170135e+00
                                    + s * -6.04244152148580987438e-02)))))));
    r / q
}

/// The same beyond 1 / 0.35.
#[tfrt_device(crate = crate)]
fn far_exponent(s: f64) -> f64 {
    let r = -9.86494292470009928597e-03
        + s * (-7.99283237680523006574e-01
            + s * (-1.77579549177547519889e+01
                + s * (-1.60636384855821916062e+02
                    + s * (-6.37566443368389627722e+02
                        + s * (-1.02509513161107724954e+03 + s * -4.83519191608651397019e+02)))));
    let q = 1.0
        + s * (3.03380607434824582924e+01
            + s * (3.25792512996573918826e+02
                + s * (1.53672958608443695994e+03
                    + s * (3.19985821950859553908e+03
                        + s * (2.55305040643316442583e+03
                            + s * (4.74528541206955367215e+02
                                + s * -2.24409524465858183362e+01))))));
    r / q
}

/// Returns the error function.
#[tfrt_device(crate = crate)]
pub fn erf(x: f32) -> f32 {
    let size = (x as f64).abs();
    let result = if size < 0.84375 {
        let z = size * size;
        let r = 1.28379167095512558561e-01
            + z * (-3.25042107247001499370e-01
                + z * (-2.84817495755985104766e-02
                    + z * (-5.77027029648944159157e-03 + z * -2.37630166566501626084e-05)));
        let s = 1.0
            + z * (3.97917223959155352819e-01
                + z * (6.50222499887672944485e-02
                    + z * (5.08130628187576562776e-03
                        + z * (1.32494738004321644526e-04 + z * -3.96022827877536812320e-06))));
        size + size * (r / s)
    } else if size < 1.25 {
        let s = size - 1.0;
        let p = -2.36211856075265944077e-03
            + s * (4.14856118683748331666e-01
                + s * (-3.72207876035701323847e-01
                    + s * (3.18346619901161753674e-01
                        + s * (-1.10894694282396677476e-01
                            + s * (3.54783043256182359371e-02
                                + s * -2.16637559486879084300e-03)))));
        let q = 1.0
            + s * (1.06420880400844228286e-01
                + s * (5.40397917702171048937e-01
                    + s * (7.18286544141962662868e-02
                        + s * (1.26171219808761642112e-01
                            + s * (1.36370839120290507362e-02 + s * 1.19844998467991074170e-02)))));
        8.45062911510467529297e-01 + p / q
    } else if size < 6.0 {
        let s = 1.0 / (size * size);
        let exponent = if size < 2.857142857142857 {
            middle_exponent(s)
        } else {
            far_exponent(s)
        };
        1.0 - double::exp(-size * size - 0.5625 + exponent) / size
    } else {
        1.0
    };
    if x.is_nan() {
        x
    } else {
        (result as f32).copysign(x)
    }
}
