/// Opens secrets that an external key management has wrapped, so that the environment and its files have none in plain text.
///
/// Without one, the setting, or the file that it names, is the secret itself.
public protocol KeyManagement: Sendable {
    /// Returns the text of a secret.
    ///
    /// - Parameters:
    ///   - wrapped: What the key management encrypted.
    ///   - setting: The setting it is the value of. It is bound to that name: a value of another setting does not open.
    func unwrap(_ wrapped: [UInt8], of setting: String) async throws(KeyManagementError) -> String
}

/// A secret could not be unwrapped. The message is for the operator and has nothing of the secret.
public struct KeyManagementError: Error, Sendable, CustomStringConvertible {
    /// The reason.
    public let message: String

    /// Makes an error.
    public init(_ message: String) {
        self.message = message
    }

    /// The reason.
    public var description: String { message }
}
