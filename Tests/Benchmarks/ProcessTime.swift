import Foundation

/// What processes have used of the processors so far: how dear a thing is, however busy the machine is.
struct ProcessTime {
    /// By the name of the executable, all of one name together, in seconds.
    private let seconds: [String: Double]

    /// Reads the times of all processes of the machine that run one of these executables, and of children they have waited for.
    init(of names: Set<String>) {
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        var seconds: [String: Double] = [:]
        for pid in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] where Int(pid) != nil {
            guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8), let name = Self.name(pid),
                names.contains(name), let end = stat.lastIndex(of: ")")
            else { continue }
            // After the name: utime, stime, cutime and cstime are fields 14 to 17 of proc(5), the state is field 3.
            let fields = stat[stat.index(after: end)...].split(separator: " ")
            seconds[name, default: 0] += fields[11...14].compactMap { Double($0) }.reduce(0, +) / ticks
        }
        self.seconds = seconds
    }

    private static func name(_ pid: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe").split(separator: "/").last.map(String.init)
    }

    /// What an executable has used since an earlier look, in microseconds for each of `count` things.
    func microseconds(of name: String, since earlier: ProcessTime, by count: Int) -> Double {
        ((seconds[name] ?? 0) - (earlier.seconds[name] ?? 0)) * 1e6 / Double(count)
    }
}
