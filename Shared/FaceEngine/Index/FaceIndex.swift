internal import CFaceNet

/// The faces of all accounts in memory, by number, for the search for faces that are similar to a given one.
///
/// 128 bytes a face and its number, 150 MB for a million. A search reads the codes once, on the index's own thread. Rounding moves the
/// product of two faces by some 0.003, so the search returns more candidates than needed, and the caller compares them exactly.
public actor FaceIndex {
    /// The candidates of a search.
    public static let maxCandidates = 32
    /// The most faces: 2.4 GB.
    public static let maxFaces = 16_777_216

    private let thread = FaceIndexThread()
    private let path: hg_path
    private var chunks: [FaceIndexChunk] = []
    private var places = FaceIndexPlaces()
    private var free: [UInt32] = []

    /// Runs on the index's own thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Creates an empty index.
    public init() { self.init(path: HG_PATH_BEST) }

    init(path: hg_path) { self.path = path }

    /// The number of faces.
    public var count: Int { places.count }

    /// The numbers of all faces.
    public var numbers: [Int64] { chunks.flatMap { $0.numbers.filter { $0 != 0 } } }

    /// Whether the memory is locked, so that it is never written to swap.
    public var isLocked: Bool { chunks.allSatisfy(\.isLocked) }

    /// Adds faces, and removes others. A known number gets its code written again; removing an unknown number does nothing.
    ///
    /// - Returns: Whether there was room for all.
    @discardableResult
    public func apply(added: [(number: Int64, code: FaceCode)] = [], removed: [Int64] = []) -> Bool {
        for (number, code) in added {
            let known = find(number)
            guard let place = known ?? nextPlace() else { return false }
            chunks[Int(place) / FaceIndexChunk.capacity].set(number, code, at: Int(place) % FaceIndexChunk.capacity)
            guard known == nil else { continue }
            places.insert(number, at: place) { [chunks] in Self.number(at: $0, in: chunks) }
        }
        for number in removed {
            guard let place = places.remove(number, { [chunks] in Self.number(at: $0, in: chunks) }) else { continue }
            chunks[Int(place) / FaceIndexChunk.capacity].clear(Int(place) % FaceIndexChunk.capacity)
            free.append(place)
        }
        return true
    }

    /// Forgets all faces.
    public func removeAll() {
        chunks = []
        places = FaceIndexPlaces()
        free = []
    }

    /// Returns the given numbers that the index does not have.
    public func missing(of numbers: [Int64]) -> [Int64] { numbers.filter { find($0) == nil } }

    /// Returns the numbers of the most similar faces, the most similar first; at most ``maxCandidates``.
    public func candidates(for code: FaceCode) -> [Int64] {
        withUnsafeTemporaryAllocation(of: hg_scan_match.self, capacity: Self.maxCandidates) { matches in
            var best = hg_scan_best(matches: matches.baseAddress, capacity: Int32(Self.maxCandidates), count: 0)
            code.values.withUnsafeBufferPointer { query in
                for (index, chunk) in chunks.enumerated() {
                    chunk.scan(query.baseAddress!, path: path, first: index * FaceIndexChunk.capacity, minScore: 1, &best)
                }
            }
            return matches.prefix(Int(best.count)).map { Self.number(at: $0.place, in: chunks) }
        }
    }

    private func find(_ number: Int64) -> UInt32? { places.find(number) { [chunks] in Self.number(at: $0, in: chunks) } }

    private func nextPlace() -> UInt32? {
        if let place = free.popLast() { return place }
        guard places.count < Self.maxFaces else { return nil }
        if places.count == chunks.count * FaceIndexChunk.capacity { chunks.append(FaceIndexChunk()) }
        return UInt32(places.count)
    }

    private static func number(at place: UInt32, in chunks: [FaceIndexChunk]) -> Int64 {
        chunks[Int(place) / FaceIndexChunk.capacity].numbers[Int(place) % FaceIndexChunk.capacity]
    }
}
