import Configuration
import Foundation

/// Reads the settings of a service from its environment; an invalid value stops the start with one clear line.
///
/// Every setting `NAME` may be given as a file instead, by `NAME_FILE`, as containers mount secrets.
/// An empty value, or an empty file, counts as not set.
public struct Settings: Sendable {
    private let reader: ConfigReader

    /// Reads from the environment of this process.
    public init() { self.init(environment: ProcessInfo.processInfo.environment) }

    /// Reads from `environment`.
    public init(environment: [String: String]) {
        reader = ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: environment))
    }

    /// A required text.
    /// - Parameter expectation: the expected value, as the end of the sentence "it should be …".
    public func string(_ name: String, _ expectation: String) throws(ConfigurationError) -> String {
        guard let value = try optionalString(name, expectation) else {
            throw ConfigurationError(name, "is missing", expectation: expectation)
        }
        return value
    }

    /// A text, or `nil` when neither `name` nor `name_FILE` is set.
    public func optionalString(_ name: String, _ expectation: String = "its value") throws(ConfigurationError) -> String? {
        if let value = reader.string(forKey: key(name), isSecret: true), !value.isEmpty { return value }
        guard let path = reader.string(forKey: key(name + "_FILE")), !path.isEmpty else { return nil }
        guard let contents = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw ConfigurationError(name + "_FILE", "names a file that cannot be read", expectation: "a file with \(expectation)")
        }
        let value = contents.trimmingCharacters(in: .whitespacesAndNewlines)
        return value.isEmpty ? nil : value
    }

    /// A whole number within `range`, or `value` when it is not set.
    public func int(_ name: String, default value: Int, in range: ClosedRange<Int>) throws(ConfigurationError) -> Int {
        let expectation = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard let text = try optionalString(name, expectation) else { return value }
        guard let number = Int(text), range.contains(number) else {
            throw ConfigurationError(name, "is not valid", expectation: expectation)
        }
        return number
    }

    /// A decimal number within `range`, or `value` when it is not set.
    public func double(
        _ name: String, default value: Double, in range: ClosedRange<Double>
    ) throws(ConfigurationError) -> Double {
        let expectation = "a number from \(range.lowerBound) to \(range.upperBound)"
        guard let text = try optionalString(name, expectation) else { return value }
        guard let number = Double(text), range.contains(number) else {
            throw ConfigurationError(name, "is not valid", expectation: expectation)
        }
        return number
    }

    /// A duration in seconds, such as `2.5`, or `value` when it is not set.
    public func seconds(
        _ name: String, default value: Duration, in range: ClosedRange<Double>
    ) throws(ConfigurationError) -> Duration {
        let fallback = Double(value.components.seconds) + Double(value.components.attoseconds) / 1e18
        return .seconds(try double(name, default: fallback, in: range))
    }

    /// Exactly `count` bytes in base64.
    public func base64(_ name: String, count: Int, _ expectation: String) throws(ConfigurationError) -> [UInt8] {
        guard let bytes = Data(base64Encoded: try string(name, expectation)), bytes.count == count else {
            throw ConfigurationError(name, "is not \(count) bytes in base64", expectation: expectation)
        }
        return [UInt8](bytes)
    }

    private func key(_ name: String) -> ConfigKey {
        ConfigKey(name.lowercased().split(separator: "_").map(String.init))
    }
}
