// Conversions between types.

#define C1(A, B, NM)                                                                                                   \
    extern "C" __global__ void NM(const A *x, B *y, int n) {                                                           \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                 \
        if (i < n)                                                                                                     \
            y[i] = (B)x[i];                                                                                            \
    }

C1(float, int, c_f32_i32)
C1(int, float, c_i32_f32) C1(float, double, c_f32_f64) C1(double, float, c_f64_f32) C1(double, long long, c_f64_i64)
    C1(long long, float, c_i64_f32) C1(float, unsigned char, c_f32_u8) C1(signed char, float, c_i8_f32)
        C1(int, long long, c_i32_i64) C1(short, double, c_i16_f64) C1(float, bool, c_f32_bool)
            C1(long long, signed char, c_i64_i8) C1(unsigned long long, double, c_u64_f64)
                C1(float, unsigned long long, c_f32_u64) C1(unsigned short, float, c_u16_f32) extern "C" __global__
    void where(const bool *c, const float *a, const float *b, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = c[i] ? a[i] : b[i];
}

extern "C" __global__ void q8(const float *x, signed char *y, float s, int z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (signed char)max(-128, min(127, __float2int_rn(x[i] / s) + z));
}
