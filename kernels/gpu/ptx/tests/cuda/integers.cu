// Histogram, integer functions, divisions of 64 bits, all atomic operations.

extern "C" __global__ void hist(const unsigned char *x, unsigned *h, int n) {
    __shared__ unsigned s[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        s[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&s[x[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&h[i], s[i]);
}

extern "C" __global__ void int_ops(const int *a, const int *b, long long *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int p = a[i], q = b[i];
        long long r = (long long)p * q;
        if (q)
            r += p / q + p % q;
        r ^= (unsigned)p >> (q & 31);
        r += p << (q & 31);
        r += __popc(p) + __clz(q) + __ffs(p) + min(p, q) - max(p, q) + abs(p);
        r += __mulhi(p, q) + __brev(p) + __byte_perm(p, q, 0x3210 + (i & 7));
        y[i] = r + (p & q) + (p | ~q);
    }
}

extern "C" __global__ void i64_div(const long long *a, const unsigned long long *b, long long *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a[i] / (long long)(b[i] | 1) + (long long)((unsigned long long)a[i] % (b[i] | 1));
    }
}

extern "C" __global__ void atom_misc(int *c, unsigned *m, unsigned long long *u, double *d, float *f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicMax(c, i);
        atomicMin(c + 1, -i);
        atomicAnd(m, ~i);
        atomicOr(m + 1, i);
        atomicXor(m + 2, i);
        atomicExch(m + 3, i);
        atomicCAS(m + 4, i, i + 1);
        atomicInc(m + 5, 7u);
        atomicAdd(u, (unsigned long long)i);
        atomicAdd(d, 0.5 * i);
        int old = __float_as_int(*f), as;
        do {
            as = old;
            old = atomicCAS((int *)f, as, __float_as_int(fmaxf(__int_as_float(as), (float)i)));
        } while (as != old);
        __threadfence();
    }
}
