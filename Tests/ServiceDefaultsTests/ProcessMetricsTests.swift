import Foundation
import TestSupport
import Testing

@testable import ServiceDefaults

@Suite struct ProcessMetricsTests {
    private func values(_ text: String) -> [String: Double] {
        var values: [String: Double] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            if words.count == 2, let value = Double(words[1]) { values[String(words[0])] = value }
        }
        return values
    }

    @Test func `this process has plausible figures`() throws {
        let values = values(ProcessMetrics().exposition())
        #expect(values.count == 7)
        #expect(try #require(values["process_resident_memory_bytes"]) > 1_000_000)
        #expect(try #require(values["process_open_fds"]) >= 3)
        #expect(try #require(values["process_max_fds"]) >= 64)
        let age = Date().timeIntervalSince1970 - (try #require(values["process_start_time_seconds"]))
        #expect(age > -5 && age < 24 * 60 * 60)
    }

    @Test func `a program name with brackets and spaces does not shift the fields`() throws {
        let root = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: "\(root.path)/self", withIntermediateDirectories: true)
        let numbers = (4...52).map { "\($0 * 100)" }.joined(separator: " ")
        try "1 (a ) b) S \(numbers)\n".write(toFile: "\(root.path)/self/stat", atomically: true, encoding: .utf8)
        let values = values(ProcessMetrics(root: root.path).exposition())
        #expect(values["process_virtual_memory_bytes"] == 2300)
        #expect(values["process_threads"] == 2000)
        #expect(values["process_cpu_seconds_total"] == 29)
        #expect(values["process_start_time_seconds"] == nil)
    }

    @Test func `the memory of a container is that of its control group, without file cache that is not used`() throws {
        let root = try TemporaryDirectory()
        func write(_ name: String, _ text: String) throws {
            try text.write(toFile: "\(root.path)/\(name)", atomically: true, encoding: .utf8)
        }
        try write("memory.max", "1073741824\n")
        try write("memory.current", "500000000\n")
        try write("memory.stat", "anon 300000000\ninactive_file 150000000\nactive_file 50000000\n")
        let values = values(CgroupMetrics(root: root.path).exposition())
        #expect(values == ["cgroup_memory_limit_bytes": 1_073_741_824, "cgroup_memory_working_set_bytes": 350_000_000])
        try write("memory.max", "max\n")
        #expect(CgroupMetrics(root: root.path).exposition().isEmpty, "without a limit there is nothing to compare with")
    }

    @Test func `Redis' limit is maxmemory`() {
        let info = "# Memory\r\nused_memory:900\r\nused_memory_human:0.9K\r\nmaxmemory:1000\r\ntotal_system_memory:5000\r\n"
        let memory = RedisMemory(info: info)
        #expect(memory?.used == 900)
        #expect(memory?.limit == 1000)
    }

    @Test func `without maxmemory the memory of the machine is the limit`() {
        #expect(RedisMemory(info: "used_memory:1\r\nmaxmemory:0\r\ntotal_system_memory:5000\r\n")?.limit == 5000)
    }

    @Test func `a reply without memory fields is refused`() {
        #expect(RedisMemory(info: "used_memory:many\r\n") == nil)
    }
}
