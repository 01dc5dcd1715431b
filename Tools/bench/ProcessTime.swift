import Foundation

/// The processor time that processes have used so far: a cost that does not depend on how busy the machine is.
struct ProcessTime {
    /// By the name of the process, which has 15 bytes at most, all of one name together, in seconds.
    private let seconds: [String: Double]

    /// Reads the times of all processes of the machine that have one of these names, and of children they have waited for.
    init(of names: Set<String>) {
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        var seconds: [String: Double] = [:]
        for pid in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] where Int(pid) != nil {
            guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
                let start = stat.firstIndex(of: "("), let end = stat.lastIndex(of: ")")
            else { continue }
            let name = String(stat[stat.index(after: start)..<end])
            guard names.contains(name) else { continue }
            // After the name: utime, stime, cutime and cstime are fields 14 to 17 of proc(5), the state is field 3.
            let fields = stat[stat.index(after: end)...].split(separator: " ")
            seconds[name, default: 0] += fields[11...14].compactMap { Double($0) }.reduce(0, +) / ticks
        }
        self.seconds = seconds
    }

    /// Returns the processor time of the processes of a name since an earlier measurement, in microseconds for each of `count` items.
    func microseconds(of name: String, since earlier: ProcessTime, by count: Int) -> Double {
        ((seconds[name] ?? 0) - (earlier.seconds[name] ?? 0)) * 1e6 / Double(count)
    }
}
