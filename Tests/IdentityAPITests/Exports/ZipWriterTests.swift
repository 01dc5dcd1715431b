import Foundation
import TestSupport
import Testing

@testable import IdentityAPI

/// Archives, read back by other programs.
@Suite struct ZipWriterTests {
    /// 2026-11-25 06:45:30 UTC.
    private static let time = ZipTime(Date(timeIntervalSince1970: 1_795_589_130))

    private static func add(_ data: [UInt8], _ path: String, to writer: inout ZipWriter) throws -> [UInt8] {
        var bytes = try writer.begin(path)
        try data.withUnsafeBytes { try writer.add($0) }
        bytes += data
        bytes += try writer.end()
        return bytes
    }

    private static func archive(_ files: [(path: String, data: [UInt8])], after offset: UInt64 = 0) throws -> [UInt8] {
        var writer = ZipWriter(time: time, after: offset)
        var bytes: [UInt8] = []
        for file in files { bytes += try add(file.data, file.path, to: &writer) }
        bytes += try writer.finish().joined()
        #expect(writer.offset == offset + UInt64(bytes.count))
        return bytes
    }

    /// Writes an archive to a file, and calls `body` with its path.
    private static func withFile(_ bytes: [UInt8], after offset: UInt64 = 0, _ body: (String) async throws -> Void) async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/archive.zip"
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        let file = try #require(FileHandle(forWritingAtPath: path))
        // Nothing is written before the offset, so that the file takes up no space there.
        try file.seek(toOffset: offset)
        try file.write(contentsOf: Data(bytes))
        try file.close()
        try await body(path)
    }

    /// Prints a line for each file: path, size, first byte or -, and the time.
    private static let listing = """
        import sys, zipfile
        with zipfile.ZipFile(sys.argv[1]) as archive:
            assert archive.testzip() is None
            for info in archive.infolist():
                data = archive.read(info)
                print(info.filename, len(data), data[0] if data else "-", "%04d-%02d-%02d %02d:%02d:%02d" % info.date_time)
        """

    @Test func `other programs read the files of an archive`() async throws {
        let files: [(String, [UInt8])] = [
            ("account.json", Array("{}\n".utf8)), ("photos/é.jpg", [UInt8](repeating: 9, count: 300_000)), ("empty.json", []),
        ]
        try await Self.withFile(try Self.archive(files)) { path in
            try await CommandLineTool.run(["unzip", "-t", path])
            let lines = try await CommandLineTool.run(["python3", "-c", Self.listing, path], environment: ["PYTHONIOENCODING": "utf-8"])
            #expect(
                lines == """
                    account.json 3 123 2026-11-25 06:45:30
                    photos/é.jpg 300000 9 2026-11-25 06:45:30
                    empty.json 0 - 2026-11-25 06:45:30

                    """)
        }
    }

    @Test func `an archive without files is valid`() async throws {
        try await Self.withFile(try Self.archive([])) { path in
            let lines = try await CommandLineTool.run(["python3", "-c", Self.listing, path])
            #expect(lines.isEmpty)
        }
    }

    @Test func `other programs read files that lie beyond 4 GiB`() async throws {
        let offset = UInt64(UInt32.max) + 1_000
        let bytes = try Self.archive([("far.json", Array("far".utf8)), ("farther.json", Array("x".utf8))], after: offset)
        try await Self.withFile(bytes, after: offset) { path in
            let lines = try await CommandLineTool.run(["python3", "-c", Self.listing, path])
            let files: [[Substring]] = lines.split(separator: "\n").map { Array($0.split(separator: " ").prefix(3)) }
            #expect(files == [["far.json", "3", "102"], ["farther.json", "1", "120"]])
            try await CommandLineTool.run(["unzip", "-t", path])
        }
    }

    @Test func `other programs read more files than the first format could count`() async throws {
        let count = 65_536
        let bytes = try Self.archive((0..<count).map { ("\($0)", []) })
        try await Self.withFile(bytes) { path in
            let script = "import sys, zipfile; print(len(zipfile.ZipFile(sys.argv[1]).namelist()))"
            let printed = try await CommandLineTool.run(["python3", "-c", script, path])
            #expect(printed == "\(count)\n")
        }
    }

    @Test(arguments: [1, 60, 22_000]) func `an archive that was cut off is not valid`(missing: Int) async throws {
        let bytes = try Self.archive([("a", [UInt8](repeating: 1, count: 40_000)), ("b", [2])])
        try await Self.withFile(Array(bytes.dropLast(missing))) { path in
            await #expect(throws: CommandLineTool.Failure.self) {
                try await CommandLineTool.run(["python3", "-c", Self.listing, path])
            }
        }
    }

    @Test(arguments: ["", "/a", "a/", "a//b", "../a", "a/../b", ".", "a\\b", "a\0b", String(repeating: "a", count: 1_025)])
    func `a path that could lead out of a folder is refused`(path: String) {
        var writer = ZipWriter(time: Self.time)
        #expect(throws: ZipError.invalidPath) { try writer.begin(path) }
        #expect(writer.offset == 0)
    }

    @Test func `files cannot overlap`() throws {
        var writer = ZipWriter(time: Self.time)
        #expect(throws: ZipError.noFileIsOpen) { try writer.end() }
        #expect(throws: ZipError.noFileIsOpen) { try [1].withUnsafeBytes { try writer.add($0) } }
        _ = try writer.begin("a")
        #expect(throws: ZipError.fileIsOpen) { try writer.begin("b") }
        #expect(throws: ZipError.fileIsOpen) { try writer.finish() }
    }

    @Test(arguments: [(-1.0, 1 << 5 | 1, 0), (315_532_799, 1 << 5 | 1, 0), (4_354_819_200, 127 << 9 | 12 << 5 | 31, 49_021)])
    func `a time that the format does not have becomes the nearest`(seconds: Double, date: Int, time: Int) {
        let converted = ZipTime(Date(timeIntervalSince1970: seconds))
        #expect(Int(converted.date) == date && Int(converted.time) == time)
    }
}
