internal import FoundationEssentials
internal import Synchronization

/// The cached result for a verified token: no part of the token, and the person only as keyed hashes.
struct VerifiedToken: Sendable, Equatable {
    let keyID: String
    let subjectLookups: [[UInt8]]
    let signedInAt: Date
    let expiresAt: Date
}

/// The tokens whose signature was checked, by their SHA-256, so that each token is checked once, not with each request.
///
/// Kept in two generations, as ``RateLimiter`` keeps its buckets: a token that is dropped is verified again. Only Google's tokens get in.
final class VerifiedTokens: Sendable {
    private struct Generations {
        var young: [[UInt8]: VerifiedToken] = [:]
        var old: [[UInt8]: VerifiedToken] = [:]
    }

    private let generationSize: Int
    private let generations = Mutex(Generations())

    /// Makes an empty table.
    ///
    /// - Parameter generationSize: The maximum number of tokens of a generation, of some 300 bytes each; the table holds twice as many.
    init(generationSize: Int = 16_384) { self.generationSize = generationSize }

    /// Returns a token that has not expired.
    func find(_ hash: [UInt8], now: Date) -> VerifiedToken? {
        generations.withLock { generations in
            if let token = generations.young[hash] { return token.expiresAt > now ? token : nil }
            guard let token = generations.old[hash], token.expiresAt > now else { return nil }
            add(token, hash, to: &generations)
            return token
        }
    }

    func add(_ token: VerifiedToken, _ hash: [UInt8]) { generations.withLock { add(token, hash, to: &$0) } }

    /// The number of tokens in the table.
    var count: Int { generations.withLock { $0.young.count + $0.old.count } }

    private func add(_ token: VerifiedToken, _ hash: [UInt8], to generations: inout Generations) {
        if generations.young.count >= generationSize, generations.young[hash] == nil {
            generations.old = generations.young
            generations.young = [:]
        }
        generations.young[hash] = token
    }
}
