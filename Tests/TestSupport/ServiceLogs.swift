import Foundation

/// The logs of the services that tests start as processes.
public enum ServiceLogs {
    /// The word that the secrets of tests contain, so that a search finds any of them in the logs; no log may contain it.
    ///
    /// All confidential values that a test can choose contain this word: previews, names, e-mails, template names, bearers.
    /// Values that a test cannot choose are recognised by their form: tokens, access tokens, private keys.
    /// `deploy/local/grep-logs.sh` searches for the word and the forms.
    public static let secretWord = "unspeakable-7d1f"

    /// Returns a new folder in the one that `TEST_LOGS` names, where the logs outlive the test and are searched; without it, the
    /// temporary folder of the test.
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
