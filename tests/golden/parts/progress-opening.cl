#if __OPENCL_C_VERSION__ == 200 || (defined(__opencl_c_atomic_order_acq_rel) && defined(__opencl_c_atomic_scope_device))
typedef atomic_uint cell_t;
#define atomic_exchange_at(p, v) atomic_exchange_explicit(p, v, memory_order_acq_rel, memory_scope_device)
#define atomic_add_at(p, v) atomic_fetch_add_explicit(p, v, memory_order_acq_rel, memory_scope_device)
#define atomic_read(p) atomic_load_explicit(p, memory_order_relaxed, memory_scope_device)
#else
typedef volatile uint cell_t;
#define atomic_exchange_at(p, v) atomic_xchg(p, v)
#define atomic_add_at(p, v) atomic_add(p, v)
#define atomic_read(p) (*(p))
#endif

