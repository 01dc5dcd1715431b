import Foundation
import Glibc

/// The figures of this process under the names that all Prometheus clients give them, read from `/proc` at each scrape.
///
/// Source: https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
struct ProcessMetrics: Sendable {
    /// The kernel's ticks in a second.
    private let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))
    private let pageByteCount = Double(sysconf(Int32(_SC_PAGESIZE)))
    /// The folder of `stat` and `self`; tests have another.
    private let root: String

    init(root: String = "/proc") { self.root = root }

    /// All of them, as a part of the answer to `GET /metrics`. What cannot be read is left out.
    func exposition() -> String {
        var text = ""
        func add(_ name: String, _ type: String, _ value: Double?) {
            guard let value else { return }
            text += "# TYPE \(name) \(type)\n\(PrometheusText.line(name, "", "\(value)"))"
        }
        let fields = statFields()
        // Fields 14, 15, 22, 23 and 24 of proc(5), of which the name and what stands before it are cut off.
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

    /// What follows the name of the program, which may have spaces and brackets itself.
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
