internal import CFaceNet

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The memory of 16,384 codes, which is one huge page, with their numbers.
///
/// It is left out of core dumps and, if the process may lock so much, never written to swap. A place that was freed is zeroed.
final class FaceIndexChunk {
    static let capacity = 16_384
    private static let byteCount = capacity * FaceCode.byteCount

    /// The numbers by place; 0 at a place that is free.
    private(set) var numbers: [Int64] = []
    /// Whether the memory is never written to swap.
    let isLocked: Bool
    private let codes: UnsafeMutablePointer<Int8>

    init() {
        // Twice the memory is reserved and an aligned half of it is kept: only an aligned page can be a huge page.
        let reserved = mmap(nil, 2 * Self.byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let reserved, reserved != MAP_FAILED else { fatalError("the system gives no memory for faces (error \(errno))") }
        let before = (Self.byteCount - Int(bitPattern: reserved) % Self.byteCount) % Self.byteCount
        let base = reserved + before
        if before > 0 { munmap(reserved, before) }
        if before < Self.byteCount { munmap(base + Self.byteCount, Self.byteCount - before) }
        #if os(Linux)
            madvise(base, Self.byteCount, Int32(MADV_DONTDUMP))
            madvise(base, Self.byteCount, Int32(MADV_HUGEPAGE))
        #endif
        isLocked = mlock(base, Self.byteCount) == 0
        codes = base.bindMemory(to: Int8.self, capacity: Self.byteCount)
        numbers.reserveCapacity(Self.capacity)
    }

    deinit {
        memset(codes, 0, Self.byteCount)
        munmap(codes, Self.byteCount)
    }

    /// Writes a code to a place: one that is free or has the same number, or the next one.
    func set(_ number: Int64, _ code: FaceCode, at place: Int) {
        if place == numbers.count { numbers.append(number) } else { numbers[place] = number }
        code.values.withUnsafeBufferPointer { values in
            codes.advanced(by: place * FaceCode.byteCount).update(from: values.baseAddress!, count: values.count)
        }
    }

    /// Frees a place.
    func clear(_ place: Int) {
        numbers[place] = 0
        memset(codes + place * FaceCode.byteCount, 0, FaceCode.byteCount)
    }

    /// Adds the codes that are most like the query to `best`; those at a free place have the score 0, which is below `minScore`.
    func scan(_ query: UnsafePointer<Int8>, path: hg_path, first: Int, minScore: Int32, _ best: inout hg_scan_best) {
        let isScanned = hg_scan(Int32(path.rawValue), codes, numbers.count, UInt32(first), query, minScore, &best)
        precondition(isScanned != 0, "the processor has the path")
    }
}
