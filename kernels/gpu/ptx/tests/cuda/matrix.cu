// Asynchronous copies, and products on matrix units.

extern "C" __global__ void cpasync(const float4 *x, float4 *y, int n) {
    __shared__ float4 s[128];
    int t = threadIdx.x;
    unsigned sa = __cvta_generic_to_shared(&s[t]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sa), "l"(x + blockIdx.x * 128 + t));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    y[blockIdx.x * 128 + t] = s[127 - t];
}

extern "C" __global__ void mma16816(const unsigned *a, const unsigned *b, float *d) {
    float c0 = 0, c1 = 0, c2 = 0, c3 = 0;
    int t = threadIdx.x;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
                 : "r"(a[t * 4]), "r"(a[t * 4 + 1]), "r"(a[t * 4 + 2]), "r"(a[t * 4 + 3]), "r"(b[t * 2]),
                   "r"(b[t * 2 + 1]));
    d[t * 4] = c0;
    d[t * 4 + 1] = c1;
    d[t * 4 + 2] = c2;
    d[t * 4 + 3] = c3;
}
