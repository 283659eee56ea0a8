//! Estimates of workloads, compared with those of the auditor.

use viem::base::rng::Rng;
use viem::base::types::PeId;
use viem::machine::Machine;
use viem_verify::{self as verify, MachineText, WorkloadText};
use viem_workload::estimate::{Estimate, WorkloadModel};
use viem_workload::routing::Routing;
use viem_workload::simulate::Costs;
use viem_workload::{Workload, WorkloadBuilder};

/// Asserts that the auditor confirms the estimated F of a mapping, from the texts.
pub fn check_estimate(
    workload: &Workload,
    costs: Costs,
    machine: &dyn Machine,
    machine_text: &MachineText<'_>,
    pe_of: &[PeId],
) {
    let model = WorkloadModel::new(workload, costs).expect("a small workload");
    let routing = Routing::new(machine).expect("a small machine");
    let estimate = Estimate::of(&model, &routing, pe_of).expect("sums that fit").cycles();
    let mut text = Vec::new();
    viem_workload::text::write(&mut text, workload).expect("a vector can be written");
    let text = String::from_utf8(text).expect("words, digits and line ends");
    let room = Some(pe_of.len() as u64);
    let workload = WorkloadText { text: &text, room, send_cycles: costs.send, receive_cycles: costs.receive };
    let lines: String = pe_of.iter().map(|pe| format!("{pe}\n")).collect();
    let audit = verify::audit_workload_on(&workload, &lines, machine_text).expect("a mapping of all tasks");
    assert_eq!(audit.estimate, estimate, "{machine_text:?}\n{text}\n{pe_of:?}");
}

/// Asserts the same for a random workload and mapping.
pub fn check_random_estimate(machine: &dyn Machine, machine_text: &MachineText<'_>, rng: &mut Rng) {
    let tasks = 2 + rng.below(2 * machine.num_pes() as u32);
    let workload = random_workload(tasks, rng);
    let pe_of: Vec<PeId> = (0..tasks).map(|_| rng.below(machine.num_pes() as u32)).collect();
    let costs = Costs::new(rng.below(4).into(), rng.below(4).into());
    check_estimate(&workload, costs, machine, machine_text, &pe_of);
}

/// Repeated rounds; in each round all tasks compute, send to any others, and then receive.
fn random_workload(tasks: u32, rng: &mut Rng) -> Workload {
    let mut builder = WorkloadBuilder::new(tasks as usize);
    for _ in 0..1 + rng.below(3) {
        let times = 1 + u64::from(rng.below(3));
        (0..tasks).for_each(|task| builder.repeat(task, times));
        (0..tasks).for_each(|task| builder.compute(task, rng.below(9).into()));
        let mut sent = Vec::new();
        // With few messages, it matters which of them meet.
        let most = 1 + rng.below(4 * tasks);
        for _ in 0..1 + rng.below(most) / 4 {
            let (from, to) = (rng.below(tasks), rng.below(tasks));
            if from != to {
                sent.push((from, to, 1 + u64::from(rng.below(30))));
            }
        }
        sent.iter().for_each(|&(from, to, flits)| builder.send(from, to, flits));
        for &(from, to, flits) in &sent {
            builder.compute(to, rng.below(9).into());
            builder.receive(to, from, flits);
        }
        (0..tasks).for_each(|task| builder.end(task));
    }
    builder.build().expect("what is sent is received later")
}
