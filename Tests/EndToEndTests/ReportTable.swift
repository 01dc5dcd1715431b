import Foundation

/// A table that a `make verify-…` prints at its end: the tests add the rows to a file, which an environment variable names.
struct ReportTable: Sendable {
    static let abuse = ReportTable(name: "abuse", variable: "ABUSE_REPORT")
    static let signIn = ReportTable(name: "signin", variable: "SIGNIN_REPORT")

    private let name: String
    private let variable: String

    /// Adds a row, and prints it.
    func append(_ cells: [String]) {
        print("\(name): \(cells.joined(separator: " | "))")
        guard let path = ProcessInfo.processInfo.environment[variable], let file = FileHandle(forWritingAtPath: path) else { return }
        file.seekToEndOfFile()
        file.write(Data((cells.joined(separator: "\t") + "\n").utf8))
        try? file.close()
    }
}
