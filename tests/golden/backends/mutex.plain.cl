// mutex.plain, mapping plain. Usage: python run_opencl.py NAME.cl; a test that hangs does not come back.
// THREAD 0
// 0: if (Exch(Mem[0],1) == 1) goto 0;
// 1: Mem[0] = 0;
// THREAD 1
// 0: if (Exch(Mem[0],1) == 1) goto 0;
// 1: Mem[0] = 0;

<parts/progress-opening.cl>
#define THREADS 2u
#define INSTANCES 1u
#define LOCATIONS 1u
#define STRIDE 32u
#define SIZE 4u
#define CELL(location) memory[(instance * LOCATIONS + location) * STRIDE]
#define FINISHED memory[INSTANCES * LOCATIONS * STRIDE]
#define WARM_UP memory[INSTANCES * LOCATIONS * STRIDE + 1u]
#define EXCHANGE(cell, value) atomic_exchange_at(&(cell), value)
#define ADD(cell, value) atomic_add_at(&(cell), value)

__kernel void test(__global cell_t* const memory) {
    const uint group = (uint)get_group_id(0);
    const uint instance = 0u;
    const uint thread = group;
    if (atomic_read(&WARM_UP) != 0u) { return; } // launched to be compiled
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
// trial {"test":"mutex","digest":"75b3023f0bfbca24","backend":"opencl","mapping":"plain","instances":1,"every_iteration":false}
