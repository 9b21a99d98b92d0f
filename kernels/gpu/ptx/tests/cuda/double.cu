// Functions of double precision.

extern "C" __global__ void dops(const double *a, const double *b, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double p = a[i], q = b[i];
        y[i] = p / q + sqrt(fabs(p)) * exp(-q * q) + fma(p, q, 1.0) + log(1.0 + p * p) + fmin(p, q) + floor(p) +
               (p < q ? 1 : 0);
    }
}
