// mutex.round-robin.workgroup, mapping round-robin.workgroup. Usage: python run_metal.py NAME.metal; a test that hangs does not come back.
// THREAD 0
// 0: if (Exch(Mem[0],1) == 1) goto 0;
// 1: Mem[0] = 0;
// THREAD 1
// 0: if (Exch(Mem[0],1) == 1) goto 0;
// 1: Mem[0] = 0;

<parts/progress-opening.metal>
#define THREADS 2u
#define INSTANCES 4u
#define LOCATIONS 1u
#define STRIDE 32u
#define SIZE 4u
#define GROUPS 2u
#define GROUP_SIZE 256u
#define TOGETHER 2u
#define APART 64u
#define CELL(location) memory[(instance * LOCATIONS + location) * STRIDE]
#define FINISHED memory[INSTANCES * LOCATIONS * STRIDE]
#define WARM_UP memory[INSTANCES * LOCATIONS * STRIDE + 1u]
#define EXCHANGE(cell, value) exchange_at(&(cell), value)
#define ADD(cell, value) add_at(&(cell), value)

kernel void test(device atomic_uint* const memory [[buffer(0)]],
                 const uint group_id [[threadgroup_position_in_grid]],
                 const uint item_id [[thread_position_in_threadgroup]]) {
    const uint group = group_id;
    const uint item = item_id;
    const uint seat = item / APART;
    const uint instance = group * TOGETHER + seat / THREADS;
    const uint thread = seat % THREADS;
    if (item % APART != 0u || instance >= INSTANCES) { return; }
    if (atomic_load_explicit(&WARM_UP, memory_order_relaxed) != 0u) { return; } // launched to be compiled
    uint pc = 0u;
    switch (thread) {
    case 0u: {
        while (pc != 2u) {
            switch (pc) {
            case 0u: { // if (Exch(Mem[0],1) == 1) goto 0;
                pc = EXCHANGE(CELL(0u), 1u) == 1u ? 0u : 1u;
                break;
            }
            case 1u: { // Mem[0] = 0;
                EXCHANGE(CELL(0u), 0u); pc = 2u;
                break;
            }
            default: { break; }
            }
        }
        break;
    }
    case 1u: {
        while (pc != 2u) {
            switch (pc) {
            case 0u: { // if (Exch(Mem[0],1) == 1) goto 0;
                pc = EXCHANGE(CELL(0u), 1u) == 1u ? 0u : 1u;
                break;
            }
            case 1u: { // Mem[0] = 0;
                EXCHANGE(CELL(0u), 0u); pc = 2u;
                break;
            }
            default: { break; }
            }
        }
        break;
    }
    default: { break; }
    }
    ADD(FINISHED, pc);
}
// trial {"test":"mutex","digest":"75b3023f0bfbca24","backend":"metal","mapping":"round-robin","instances":4,"every_iteration":false,"placement":"workgroup"}
