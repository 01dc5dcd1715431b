/// A setting is missing or wrong; its description is the one line that an operator needs to correct it.
public struct ConfigurationError: Error, CustomStringConvertible, Equatable {
    /// The environment variable.
    public let name: String
    /// The expected value, as the end of the sentence "it should be …".
    public let expectation: String
    /// The fault; never the value, which may be a secret.
    public let problem: String

    /// Creates an error about the variable `name`; the three texts become one sentence, and none may hold the value.
    public init(_ name: String, _ problem: String, expectation: String) {
        self.name = name
        self.problem = problem
        self.expectation = expectation
    }

    /// One line for the operator, such as `REDIS_URL is missing: it should be …`.
    public var description: String { "\(name) \(problem): it should be \(expectation)" }
}
