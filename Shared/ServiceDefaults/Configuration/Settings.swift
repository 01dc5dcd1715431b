import Configuration
import Foundation

/// Reads the settings of a service from its environment; an invalid value stops the start with one clear line.
///
/// Every setting `NAME` may be given as a file instead, by `NAME_FILE`, as containers mount secrets.
/// An empty value, or an empty file, counts as not set.
///
/// `docs/CONFIGURATION.md` is made from these reads: `about` describes a setting; `expectation`, the end of the sentence "it should be …",
/// is also used in errors.
public struct Settings: Sendable {
    private let reader: ConfigReader
    private let record: SettingsRecord?
    /// Values that a key management has unwrapped, by their setting.
    private var unwrapped = UnwrappedSecrets()

    /// Reads from the environment of this process.
    public init() { self.init(environment: ProcessInfo.processInfo.environment) }

    /// Reads from `environment`, and notes the read settings in `record`.
    public init(environment: [String: String], record: SettingsRecord? = nil) {
        reader = ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: environment))
        self.record = record
    }

    /// A required text.
    public func string(_ name: String, _ expectation: String, about: String = "") throws(ConfigurationError) -> String {
        record?.add(name, about: about, expectation: expectation, fallback: nil)
        guard let value = try value(name, expectation) else {
            throw ConfigurationError(name, "is missing", expectation: expectation)
        }
        return value
    }

    /// A text, or `value` when it is not set.
    public func string(
        _ name: String, default value: String, _ expectation: String = "a text", about: String = ""
    ) throws(ConfigurationError) -> String {
        record?.add(name, about: about, expectation: expectation, fallback: "`\(value)`")
        return try self.value(name, expectation) ?? value
    }

    /// A text, or `nil` when it is not set.
    ///
    /// - Parameter fallback: what applies then, for the documentation.
    public func optionalString(
        _ name: String, _ expectation: String = "a text", otherwise fallback: String = "none", about: String = ""
    ) throws(ConfigurationError) -> String? {
        record?.add(name, about: about, expectation: expectation, fallback: fallback)
        return try value(name, expectation)
    }

    /// One of the cases of an enumeration, or `value` when it is not set.
    public func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, default value: Choice, about: String
    ) throws(ConfigurationError) -> Choice {
        let expectation = Choice.allCases.map(\.rawValue).joined(separator: " or ")
        record?.add(name, about: about, expectation: expectation, fallback: "`\(value.rawValue)`")
        guard let text = try self.value(name, expectation) else { return value }
        guard let choice = Choice(rawValue: text) ?? Choice(rawValue: text.lowercased()) else {
            throw ConfigurationError(name, "is not valid", expectation: expectation)
        }
        return choice
    }

    /// A whole number within `range`, or `value` when it is not set.
    public func int(
        _ name: String, default value: Int, in range: ClosedRange<Int>, about: String = ""
    ) throws(ConfigurationError) -> Int {
        try number(name, "a whole number", default: value, in: range, about: about)
    }

    /// A whole number within `range`, or `nil` when it is not set.
    ///
    /// - Parameter fallback: what applies then, for the documentation.
    public func int(
        _ name: String, in range: ClosedRange<Int>, otherwise fallback: String, about: String
    ) throws(ConfigurationError) -> Int? {
        try parse(name, "a whole number", in: range, fallback: fallback, about: about)
    }

    /// A number within `range`, or `value` when it is not set.
    public func number<Number: LosslessStringConvertible & Comparable>(
        _ name: String, _ kind: String = "a number", default value: Number, in range: ClosedRange<Number>, about: String = ""
    ) throws(ConfigurationError) -> Number {
        try parse(name, kind, in: range, fallback: Self.text(value), about: about) ?? value
    }

    private func parse<Number: LosslessStringConvertible & Comparable>(
        _ name: String, _ kind: String, in range: ClosedRange<Number>, fallback: String, about: String
    ) throws(ConfigurationError) -> Number? {
        let expectation = "\(kind) from \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))"
        record?.add(name, about: about, expectation: expectation, fallback: fallback)
        guard let text = try value(name, expectation) else { return nil }
        guard let number = Number(text), range.contains(number) else {
            throw ConfigurationError(name, "is not valid", expectation: expectation)
        }
        return number
    }

    private static func text(_ number: some LosslessStringConvertible) -> String {
        let text = "\(number)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// A duration in seconds, such as `2.5`, or `value` when it is not set.
    public func seconds(
        _ name: String, default value: Duration, in range: ClosedRange<Double>, about: String = ""
    ) throws(ConfigurationError) -> Duration {
        .seconds(try number(name, default: value / .seconds(1), in: range, about: about))
    }

    /// Exactly `count` bytes in base64, which `heliographctl` makes.
    public func secret(_ name: String, byteCount: Int, about: String = "") throws(ConfigurationError) -> [UInt8] {
        let expectation = "\(byteCount) bytes in base64 (`heliographctl keys generate` makes one)"
        guard let bytes = Data(base64Encoded: try string(name, expectation, about: about)), bytes.count == byteCount else {
            throw ConfigurationError(name, "is not \(byteCount) bytes in base64", expectation: expectation)
        }
        return [UInt8](bytes)
    }

    /// The path of a PEM file of certificate authorities that can be read, or `nil` for the system's authorities.
    public func authorities(_ name: String, about: String) throws(ConfigurationError) -> String? {
        let expectation = "the path of a PEM file of certificate authorities"
        guard let path = try optionalString(name, expectation, otherwise: "the system's", about: about) else { return nil }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw ConfigurationError(name, "names a file that cannot be read", expectation: expectation)
        }
        return path
    }

    /// Returns the settings with other values of some secrets.
    func replacing(_ secrets: [String: String]) -> Settings {
        var copy = self
        copy.unwrapped = UnwrappedSecrets(values: secrets)
        return copy
    }

    func value(_ name: String, _ expectation: String) throws(ConfigurationError) -> String? {
        if let value = unwrapped.values[name] { return value }
        if let value = reader.string(forKey: key(name), isSecret: true), !value.isEmpty { return value }
        guard let path = reader.string(forKey: key(name + "_FILE")), !path.isEmpty else { return nil }
        guard let contents = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw ConfigurationError(name + "_FILE", "names a file that cannot be read", expectation: "a file with \(expectation)")
        }
        let value = contents.trimmingCharacters(in: .whitespacesAndNewlines)
        return value.isEmpty ? nil : value
    }

    private func key(_ name: String) -> ConfigKey {
        ConfigKey(name.lowercased().split(separator: "_").map(String.init))
    }
}

/// Secrets by their setting. They do not appear in descriptions and dumps.
private struct UnwrappedSecrets: Sendable, CustomStringConvertible, CustomReflectable {
    var values: [String: String] = [:]

    var description: String { "\(values.count) secrets" }
    var customMirror: Mirror { Mirror(self, children: ["count": values.count]) }
}
