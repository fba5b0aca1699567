// three-threads.chunked.subgroup, mapping chunked.subgroup. Usage: python run_metal.py NAME.metal; a test that hangs does not come back.
// THREAD 0
// 0: Mem[0] = 1;
// THREAD 1
// 0: if (Mem[0] == 0) goto 0;
// 1: Mem[1] = 3;
// THREAD 2
// 0: if (Exch(Mem[1],2) == 3) goto END;
// 1: if (Mem[0] == 0) goto 1;

<parts/progress-opening.metal>
#define THREADS 3u
#define INSTANCES 4u
#define LOCATIONS 2u
#define STRIDE 32u
#define SIZE 5u
#define GROUPS 2u
#define GROUP_SIZE 6u
#define TOGETHER 2u
#define APART 1u
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
    const uint instance = group * TOGETHER + seat % TOGETHER;
    const uint thread = seat / TOGETHER;
    if (item % APART != 0u || instance >= INSTANCES) { return; }
    if (atomic_load_explicit(&WARM_UP, memory_order_relaxed) != 0u) { return; } // launched to be compiled
    uint pc = 0u;
    switch (thread) {
    case 0u: {
        while (pc != 1u) {
            switch (pc) {
            case 0u: { // Mem[0] = 1;
                EXCHANGE(CELL(0u), 1u); pc = 1u;
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
            case 0u: { // if (Mem[0] == 0) goto 0;
                pc = ADD(CELL(0u), 0u) == 0u ? 0u : 1u;
                break;
            }
            case 1u: { // Mem[1] = 3;
                EXCHANGE(CELL(1u), 3u); pc = 2u;
                break;
            }
            default: { break; }
            }
        }
        break;
    }
    case 2u: {
        while (pc != 2u) {
            switch (pc) {
            case 0u: { // if (Exch(Mem[1],2) == 3) goto END;
                pc = EXCHANGE(CELL(1u), 2u) == 3u ? 2u : 1u;
                break;
            }
            case 1u: { // if (Mem[0] == 0) goto 1;
                pc = ADD(CELL(0u), 0u) == 0u ? 1u : 2u;
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
// trial {"test":"three-threads","digest":"3697da9996d52ed7","backend":"metal","mapping":"chunked","instances":4,"every_iteration":false,"placement":"subgroup"}
