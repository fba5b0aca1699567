// mutex.round-robin, mapping round-robin. Usage: python run_wgsl.py NAME.wgsl; a test that hangs does not come back.
// THREAD 0
// 0: if (Exch(Mem[0],1) == 1) goto 0;
// 1: Mem[0] = 0;
// THREAD 1
// 0: if (Exch(Mem[0],1) == 1) goto 0;
// 1: Mem[0] = 0;

@group(0) @binding(0) var<storage, read_write> memory: array<atomic<u32>>;
var<private> instance: u32;

const THREADS = 2u;
const INSTANCES = 4u;
const LOCATIONS = 1u;
const STRIDE = 32u;
const SIZE = 4u;
const FINISHED = 128u;
const WARM_UP = 129u;
fn CELL(location: u32) -> u32 { return (instance * LOCATIONS + location) * STRIDE; }
fn EXCHANGE(cell: u32, value: u32) -> u32 { return atomicExchange(&memory[cell], value); }
fn ADD(cell: u32, value: u32) -> u32 { return atomicAdd(&memory[cell], value); }

@compute @workgroup_size(1)
fn test(@builtin(workgroup_id) workgroup: vec3<u32>) {
    let group = workgroup.x;
    instance = group / THREADS;
    let thread = group % THREADS;
    if (atomicLoad(&memory[WARM_UP]) != 0u) { return; } // launched to be compiled
    var pc = 0u;
    switch (thread) {
    case 0u: {
        while (pc != 2u) {
            switch (pc) {
            case 0u: { // if (Exch(Mem[0],1) == 1) goto 0;
                pc = select(1u, 0u, EXCHANGE(CELL(0u), 1u) == 1u);
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
                pc = select(1u, 0u, EXCHANGE(CELL(0u), 1u) == 1u);
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
// trial {"test":"mutex","digest":"75b3023f0bfbca24","backend":"wgsl","mapping":"round-robin","instances":4,"every_iteration":false}
