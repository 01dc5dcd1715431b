import Foundation

/// Finds files of this checkout, independently of the working directory of the test run.
public enum PackageRoot {
    /// The folder that holds `Package.swift`.
    public static let path: String = {
        var folder = URL(fileURLWithPath: #filePath)
        repeat {
            folder.deleteLastPathComponent()
        } while folder.path != "/" && !FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path)
        return folder.path
    }()

    /// Returns the path of a file below the root; throws when it is missing, with `hint` as the command that creates it.
    public static func file(_ relative: String, require hint: String = "make setup") throws -> String {
        let file = path + "/" + relative
        guard FileManager.default.fileExists(atPath: file) else {
            throw DeadlineExceeded(description: "\(relative) is missing: run `\(hint)` first")
        }
        return file
    }

    /// Returns the path of an executable of this package: in the folder that `TEST_EXECUTABLES` names, or else beside the running
    /// test bundle or in the debug build.
    ///
    /// Measurements set `TEST_EXECUTABLES=.build-release/release`, so that they measure release builds, as they are deployed.
    public static func executable(_ name: String) throws -> String {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        let named = ProcessInfo.processInfo.environment["TEST_EXECUTABLES"].map {
            URL(fileURLWithPath: $0, relativeTo: URL(fileURLWithPath: path)).path
        }
        let candidates = named.map { [$0] } ?? [folder.path, path + "/.build/debug"]
        for candidate in candidates where FileManager.default.isExecutableFile(atPath: candidate + "/" + name) {
            return candidate + "/" + name
        }
        throw DeadlineExceeded(description: "\(name) is not built: looked in \(candidates.joined(separator: ", "))")
    }
}
