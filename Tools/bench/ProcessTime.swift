import Foundation

/// The processor time that processes have used so far: a measure of cost that does not depend on other load.
struct ProcessTime {
    /// The processor seconds by process name, summed over processes of the same name; Linux cuts names off at 15 bytes.
    private let seconds: [String: Double]

    /// Reads the times of all processes of the machine with one of these names, including the children that they have waited for.
    init(of names: Set<String>) {
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        var seconds: [String: Double] = [:]
        for pid in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] where Int(pid) != nil {
            guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
                let start = stat.firstIndex(of: "("), let end = stat.lastIndex(of: ")")
            else { continue }
            let name = String(stat[stat.index(after: start)..<end])
            guard names.contains(name) else { continue }
            // The fields after the name begin with field 3 of proc(5), the state; utime, stime, cutime and cstime are fields 14
            // to 17.
            let fields = stat[stat.index(after: end)...].split(separator: " ")
            seconds[name, default: 0] += fields[11...14].compactMap { Double($0) }.reduce(0, +) / ticks
        }
        self.seconds = seconds
    }

    /// Returns the processor time that the processes of a name have used since an earlier reading, in microseconds per item.
    func microseconds(of name: String, since earlier: ProcessTime, by count: Int) -> Double {
        ((seconds[name] ?? 0) - (earlier.seconds[name] ?? 0)) * 1e6 / Double(count)
    }
}
