import Foundation
import Testing

@testable import MobileClient

/// An exchange of the golden files as the client has it: the request that it makes, and what it makes of the response.
struct GoldenExchange: Sendable, CustomTestStringConvertible {
    let name: String
    let check: @Sendable (GoldenFile, SourceLocation) throws -> Void
    var testDescription: String { name }

    /// A response that the client reads.
    ///
    /// - Parameters:
    ///   - isSent: Whether the client makes this request.
    ///   - makesKey: See ``GoldenRequestCheck``.
    ///   - expected: Whether the answer is the expected one.
    static func answer<Answer>(
        _ name: String, _ request: APIRequest<Answer>, isSent: Bool = true, makesKey: Bool = false,
        _ expected: @escaping @Sendable (Answer) -> Bool
    ) -> Self {
        Self(name: name) { golden, location in
            if isSent { try GoldenRequestCheck.check(request, golden, makesKey: makesKey, location) }
            #expect(golden.response.status < 400, sourceLocation: location)
            let answer = try request.decode(golden.response)
            #expect(expected(answer), "\(answer)", sourceLocation: location)
        }
    }

    /// A response that has one value of an equatable type.
    static func answer<Answer: Equatable>(
        _ name: String, _ request: APIRequest<Answer>, isSent: Bool = true, makesKey: Bool = false, is expected: Answer
    ) -> Self {
        answer(name, request, isSent: isSent, makesKey: makesKey) { $0 == expected }
    }

    /// A response without a value.
    static func done(_ name: String, _ request: APIRequest<Void>, isSent: Bool = true, makesKey: Bool = false) -> Self {
        answer(name, request, isSent: isSent, makesKey: makesKey) { _ in true }
    }

    /// A refusal.
    ///
    /// - Parameters:
    ///   - isSent: Whether the client makes this request: it checks most limits before.
    ///   - waits: Whether the API names a time to wait.
    static func refusal<Answer>(
        _ name: String, _ request: APIRequest<Answer>, isSent: Bool = true, makesKey: Bool = false, _ code: HeliographError.Code,
        field: String? = nil, waits: Bool = false
    ) -> Self {
        Self(name: name) { golden, location in
            if isSent { try GoldenRequestCheck.check(request, golden, makesKey: makesKey, location) }
            #expect(golden.response.status >= 400, sourceLocation: location)
            let error = HeliographError(golden.response, requestID: "none", now: GoldenFile.time)
            #expect(
                error.code == code && error.field == field && error.status == golden.response.status, "\(error)", sourceLocation: location)
            #expect(error.retryAfter == (waits ? .seconds(GoldenFile.seconds) : nil), sourceLocation: location)
            let retryable: [HeliographError.Code] = [.rateLimited, .requestInProgress, .overloaded]
            #expect(error.isRetryable == retryable.contains(code), sourceLocation: location)
            #expect(error.requestID == GoldenFile.id("request").wireText, sourceLocation: location)
            #expect(!error.message.isEmpty && !error.message.contains("status"), sourceLocation: location)
        }
    }
}
