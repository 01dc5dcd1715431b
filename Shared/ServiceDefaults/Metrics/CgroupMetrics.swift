import Foundation

/// The memory of the container that this process runs in, read from its control group (version 2) at each scrape.
///
/// It includes the processes that this one starts, such as the decoders of pictures, which the kernel counts against the same limit.
struct CgroupMetrics: Sendable {
    /// The folder of the control group as a container sees its own; tests replace it.
    private let root: String

    init(root: String = "/sys/fs/cgroup") { self.root = root }

    /// The metrics in the text format of `GET /metrics`; empty outside of a container with a limit.
    ///
    /// The working set is the memory that the kernel cannot reclaim easily: all memory except the inactive file cache.
    func exposition() -> String {
        guard let limit = number("memory.max"), let usage = number("memory.current") else { return "" }
        let workingSet = max(0, usage - (inactiveFiles() ?? 0))
        return PrometheusText.gauge("cgroup_memory_limit_bytes", [("", limit)])
            + PrometheusText.gauge("cgroup_memory_working_set_bytes", [("", workingSet)])
    }

    private func inactiveFiles() -> Int? {
        let line = read("memory.stat")?.split(separator: "\n").first { $0.hasPrefix("inactive_file ") }
        return line.flatMap { Int($0.dropFirst("inactive_file ".count)) }
    }

    /// Nil without the file, and for `max`, which is no limit.
    private func number(_ name: String) -> Int? {
        read(name).flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    private func read(_ name: String) -> String? { try? String(contentsOfFile: "\(root)/\(name)", encoding: .utf8) }
}
