import Foundation

/// The processor time that processes have used so far: a measure of cost that does not depend on other load.
struct ProcessTime {
    /// The processor seconds by process name, summed over processes of the same name; Linux cuts names off at 15 bytes.
    private let seconds: [String: Double]

    /// Reads the times of all processes of the machine with one of these names, including the children that they have waited for.
    init(of names: Set<String>) {
        var seconds: [String: Double] = [:]
        for pid in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] where Int(pid) != nil {
            guard let (name, used) = Self.read(pid), names.contains(name) else { continue }
            seconds[name, default: 0] += used
        }
        self.seconds = seconds
    }

    /// Reads the time of one process.
    init(of pid: Int32) {
        seconds = Self.read("\(pid)").map { [$0.name: $0.seconds] } ?? [:]
    }

    /// The processor seconds of all processes that were read.
    var total: Double { seconds.values.reduce(0, +) }

    private static func read(_ pid: String) -> (name: String, seconds: Double)? {
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let start = stat.firstIndex(of: "("), let end = stat.lastIndex(of: ")")
        else { return nil }
        // The fields after the name begin with field 3 of proc(5), the state; utime, stime, cutime and cstime are fields 14 to 17.
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        let seconds = fields[11...14].compactMap { Double($0) }.reduce(0, +) / ticks
        return (String(stat[stat.index(after: start)..<end]), seconds)
    }

    /// Returns the processor time that the processes of a name have used since an earlier reading, in microseconds per item.
    func microseconds(of name: String, since earlier: ProcessTime, by count: Int) -> Double {
        ((seconds[name] ?? 0) - (earlier.seconds[name] ?? 0)) * 1e6 / Double(count)
    }
}
