/// A setting is missing or wrong; the one line that an operator needs to mend it.
public struct ConfigurationError: Error, CustomStringConvertible, Equatable {
    /// The environment variable.
    public let name: String
    /// What it should be.
    public let expectation: String
    /// What is wrong with it; never the value, which may be a secret.
    public let problem: String

    public init(_ name: String, _ problem: String, expectation: String) {
        self.name = name
        self.problem = problem
        self.expectation = expectation
    }

    public var description: String { "\(name) \(problem): it should be \(expectation)" }
}
