//! What a run tells its recorder. Without one each call here is the test of a pointer.

use pto_ir::Engine;
use smallvec::SmallVec;

use super::{Config, Input, Machine, RunResult, run_machine};
use crate::code::{Code, EngineOp, FuncId, ViewSlot};
use crate::memory::{Storage, View};
use crate::report::SiteId;
use crate::trace::{AccessKind, Recorder, Trace};

/// As [`run`](super::run), and what happened, also in a run that fails.
pub fn record(
    code: &Code,
    entry: FuncId,
    inputs: Vec<Input>,
    config: Config,
) -> (RunResult, Trace) {
    let recorder = Recorder::new(config.target);
    let config = Config {
        times: true,
        ..config
    };
    let mut machine = Machine::new(code, config);
    machine.memory.psum.recorder = Some(Box::new(recorder));
    let target = machine.config.target;
    let (result, recorder) = run_machine(machine, entry, inputs);
    let recorder = recorder.map_or_else(|| Recorder::new(target), |recorder| *recorder);
    (result, recorder.finish())
}

impl Machine<'_> {
    /// An engine instruction begins.
    pub(super) fn begin(&mut self, op: &EngineOp, site: SiteId) {
        if self.memory.psum.recorder.is_none() {
            return;
        }
        let tokens: SmallVec<[u64; 4]> = op.after.iter().map(|&slot| self.get(slot)).collect();
        let Some(recorder) = &mut self.memory.psum.recorder else {
            return;
        };
        recorder.begin(op.engine, site);
        for token in tokens {
            recorder.waits_for(token);
        }
        let token = recorder.token();
        if let Some(slot) = op.token {
            self.set(slot, token);
        }
    }

    /// Something begins that no engine of the machine does.
    pub(super) fn begin_other(&mut self, site: SiteId) {
        if let Some(recorder) = &mut self.memory.psum.recorder {
            recorder.begin(Engine::Other, site);
        }
    }

    /// The instruction that has begun accesses the memref in `slot`.
    pub(super) fn accesses(&mut self, slot: ViewSlot, access: AccessKind) {
        if self.memory.psum.recorder.is_some() {
            let view = self.view(slot).clone();
            self.accesses_view(&view, access);
        }
    }

    /// The instruction that has begun accesses `view`. PSUM itself tells of cells that are placed.
    pub(super) fn accesses_view(&mut self, view: &View, access: AccessKind) {
        if self.memory.psum.recorder.is_none() {
            return;
        }
        let is_physical = self.memory.psum.is_physical();
        let buffer = self.memory.buffer(view, SiteId::NONE).ok();
        let facts = buffer.and_then(|buffer| match &buffer.storage {
            Storage::Psum(psum) if is_physical && psum.placement.is_some() => None,
            Storage::Psum(psum) => Some((
                buffer.serial(),
                u64::from(psum.rows) * u64::from(psum.columns),
            )),
            Storage::Host(host) => Some((
                buffer.serial(),
                (host.bytes().len() / host.width().max(1)) as u64,
            )),
            Storage::Tile(tile) => Some((buffer.serial(), tile.len() as u64)),
            Storage::Freed(_) => None,
        });
        if let (Some(facts), Some(recorder)) = (facts, &mut self.memory.psum.recorder) {
            recorder.host(facts, view, access);
        }
    }
}
