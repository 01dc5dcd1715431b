internal import Accounts
internal import HeliographCrypto
public import Logging

extension Settings {
    /// The beginning of a value that AWS KMS has wrapped; the rest is base64.
    static let wrappedPrefix = "aws-kms:"
    private static let expectation = "\(wrappedPrefix) and the base64 of what AWS KMS encrypted with the context heliograph=<setting>"

    /// The settings that may be wrapped.
    private static let keyNames = KeyPurpose.allCases.map(\.setting) + ["SESSION_KEY", "MEDIA_LINK_KEY"]

    /// Returns the settings with the keys unwrapped that AWS KMS has wrapped; the same settings when no key is wrapped.
    ///
    /// - Throws: ``ConfigurationError`` when one of them does not open, or a setting of AWS KMS is missing.
    public func unwrappingKeys(logger: Logger) async throws(ConfigurationError) -> Settings {
        let wrapped = try wrappedKeys()
        guard !wrapped.isEmpty else { return self }
        let management = try AWSKeyManagement(self, logger: logger)
        do throws(ConfigurationError) {
            let settings = try await unwrapping(wrapped, by: management)
            await management.shutdown()
            return settings
        } catch {
            await management.shutdown()
            throw error
        }
    }

    /// Returns the settings with keys opened by a key management.
    func unwrapping(_ wrapped: [String: [UInt8]], by management: some KeyManagement) async throws(ConfigurationError) -> Settings {
        var secrets: [String: String] = [:]
        for (name, bytes) in wrapped {
            do throws(KeyManagementError) {
                secrets[name] = try await management.unwrap(bytes, of: name)
            } catch {
                throw ConfigurationError(name, "cannot be unwrapped (\(error))", expectation: Self.expectation)
            }
        }
        return replacing(secrets)
    }

    /// The keys that are wrapped, by their setting.
    func wrappedKeys() throws(ConfigurationError) -> [String: [UInt8]] {
        var wrapped: [String: [UInt8]] = [:]
        for name in Self.keyNames {
            guard let text = try value(name, Self.expectation), text.hasPrefix(Self.wrappedPrefix) else { continue }
            guard let bytes = Base64.decode(String(text.dropFirst(Self.wrappedPrefix.count))), !bytes.isEmpty else {
                throw ConfigurationError(name, "is not valid", expectation: Self.expectation)
            }
            wrapped[name] = bytes
        }
        return wrapped
    }
}
