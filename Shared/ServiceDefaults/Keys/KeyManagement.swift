/// Opens secrets that an external key management has wrapped, so that the environment and its files have none in plain text.
///
/// Without one, the setting, or the file that it names, is the secret itself.
public protocol KeyManagement: Sendable {
    /// Returns the text of a secret.
    ///
    /// - Parameters:
    ///   - wrapped: The ciphertext from the key management.
    ///   - setting: The name of its setting. The ciphertext is bound to that name: the value of another setting does not open.
    func unwrap(_ wrapped: [UInt8], of setting: String) async throws(KeyManagementError) -> String
}

/// A secret could not be unwrapped. The message is for the operator, and contains no part of the secret.
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
