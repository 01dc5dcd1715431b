import Foundation
import Glibc

/// The standard Prometheus metrics of this process, read from `/proc` at each scrape.
///
/// Source: https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
struct ProcessMetrics: Sendable {
    /// The kernel's clock ticks per second.
    private let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))
    private let pageByteCount = Double(sysconf(Int32(_SC_PAGESIZE)))
    /// The folder of `stat` and `self`; tests replace it.
    private let root: String

    init(root: String = "/proc") { self.root = root }

    /// The metrics in the text format of `GET /metrics`. Unreadable metrics are left out.
    func exposition() -> String {
        var text = ""
        func add(_ name: String, _ type: String, _ value: Double?) {
            guard let value else { return }
            text += "# TYPE \(name) \(type)\n\(PrometheusText.line(name, "", "\(value)"))"
        }
        let fields = statFields()
        // Field numbers are those of proc(5); the first two, pid and name, are cut off.
        func field(_ number: Int) -> Double? { fields.count > number - 3 ? Double(fields[number - 3]) : nil }
        let ticks = field(14).flatMap { user in field(15).map { user + $0 } }
        add("process_cpu_seconds_total", "counter", ticks.map { $0 / ticksPerSecond })
        add("process_start_time_seconds", "gauge", bootTime().flatMap { boot in field(22).map { boot + $0 / ticksPerSecond } })
        add("process_virtual_memory_bytes", "gauge", field(23))
        add("process_resident_memory_bytes", "gauge", field(24).map { $0 * pageByteCount })
        add("process_threads", "gauge", field(20))
        let open = try? FileManager.default.contentsOfDirectory(atPath: "\(root)/self/fd").count
        add("process_open_fds", "gauge", open.map(Double.init))
        add("process_max_fds", "gauge", openFilesLimit())
        return text
    }

    /// The fields after the name of the program, which may itself contain spaces and brackets.
    private func statFields() -> [Substring] {
        guard let stat = read("self/stat"), let end = stat.lastIndex(of: ")") else { return [] }
        return stat[stat.index(after: end)...].split(separator: " ")
    }

    private func bootTime() -> Double? {
        let line = read("stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }
        return line.flatMap { Double($0.dropFirst("btime ".count)) }
    }

    private func openFilesLimit() -> Double? {
        let line = read("self/limits")?.split(separator: "\n").first { $0.hasPrefix("Max open files") }
        return line?.split(separator: " ").dropFirst(3).first.flatMap { Double($0) }
    }

    private func read(_ path: String) -> String? { try? String(contentsOfFile: "\(root)/\(path)", encoding: .utf8) }
}
