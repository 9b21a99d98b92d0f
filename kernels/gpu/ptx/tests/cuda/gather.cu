// Rows by index, sums by index, and a sum with broadcasting by a structure as parameter.

extern "C" __global__ void gather_rows(const float *t, const long long *idx, float *y, long long rows, int dim,
                                       long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n * dim)
        return;
    long long r = idx[i / dim];
    if (r < 0)
        r += rows;
    y[i] = (r >= 0 && r < rows) ? t[r * dim + i % dim] : nanf("");
}

extern "C" __global__ void scatter_add(float *t, const int *idx, const float *v, int n, int dim) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * dim)
        atomicAdd(&t[(size_t)idx[i / dim] * dim + i % dim], v[i]);
}

struct Shape {
    int nd;
    int dims[6];
    long long sa[6];
    long long sb[6];
};

extern "C" __global__ void bcast_add(const float *a, const float *b, float *y, long long n, Shape s) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long r = i, oa = 0, ob = 0;
    for (int d = s.nd - 1; d >= 0; d--) {
        long long j = r % s.dims[d];
        r /= s.dims[d];
        oa += j * s.sa[d];
        ob += j * s.sb[d];
    }
    y[i] = a[oa] + b[ob];
}
