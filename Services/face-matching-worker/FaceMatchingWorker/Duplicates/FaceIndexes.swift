internal import FaceEngine

/// The index of the faces of accounts, and that of the faces that wait for a proof or a recovery.
///
/// Each search gets the candidates of both: in one index anybody could hide an account with a face, by that many sign-ups with the same
/// face, without a proof. A face has another number in each, so no number changes the index.
struct FaceIndexes: Sendable {
    private let accounts = FaceIndex()
    private let waiting = FaceIndex()

    /// The number of faces.
    var count: Int { get async { await accounts.count + waiting.count } }

    /// The numbers of all faces.
    var numbers: [Int64] { get async { await accounts.numbers + waiting.numbers } }

    /// Whether the memory is locked, so that it is never written to swap.
    var isLocked: Bool {
        get async {
            let (first, second) = (await accounts.isLocked, await waiting.isLocked)
            return first && second
        }
    }

    /// Adds faces of accounts and faces that wait, and removes others, as ``FaceIndex/apply(added:removed:)`` does.
    ///
    /// - Returns: Whether there was room for all.
    @discardableResult
    func apply(
        added: [(number: Int64, code: FaceCode)] = [], waiting: [(number: Int64, code: FaceCode)] = [], removed: [Int64] = []
    ) async -> Bool {
        let hasRoom = await accounts.apply(added: added, removed: removed)
        return await self.waiting.apply(added: waiting, removed: removed) && hasRoom
    }

    /// Forgets all faces.
    func removeAll() async {
        await accounts.removeAll()
        await waiting.removeAll()
    }

    /// Returns the given numbers that neither index has.
    func missing(of numbers: [Int64]) async -> [Int64] { await waiting.missing(of: accounts.missing(of: numbers)) }

    /// Returns the numbers of the most similar faces of accounts, and of those that wait; at most ``FaceIndex/maxCandidates`` of each.
    func candidates(for code: FaceCode) async -> [Int64] { await accounts.candidates(for: code) + waiting.candidates(for: code) }
}
