import Foundation

/// The logs of services that tests start as processes.
public enum ServiceLogs {
    /// The text that secrets in tests contain, so that a search of all logs finds any of them: no log may contain it.
    ///
    /// Every secret whose text a test can choose contains this word: previews, names, e-mails,
    /// template names, bearers. Other secrets are recognised by their shape: tokens, access tokens, private keys.
    /// `deploy/local/grep-logs.sh` knows the word and the shapes.
    public static let secretWord = "unspeakable-7d1f"

    /// The folder that `TEST_LOGS` names, where the logs outlive the test and are searched; else one of the test's own.
    public static func folder(in temporary: TemporaryDirectory) -> String {
        guard let logs = ProcessInfo.processInfo.environment["TEST_LOGS"], !logs.isEmpty else { return temporary.path }
        let root = logs.hasPrefix("/") ? logs : PackageRoot.path + "/" + logs
        let folder = "\(root)/services/\(UUID().uuidString.prefix(8).lowercased())"
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            return folder
        } catch {
            return temporary.path
        }
    }
}
