/// Returns the sum of powers.
#[tfrt_device]
#[must_use]
pub fn powers(x: f32, n: i32) -> f32 {
    let mut sum = 0.0;
    let mut power = 1.0_f32;
    for k in 0..n.min(LIMIT) {
        if power.is_infinite() || k == 7 && !(x > 2.0) {
            break;
        }
        power *= x;
        sum += if sum < 0.0 { power } else { -math::half(power) as f32 };
    }
    f32::max(sum, f32::from_bits(0x3f800000))
}
