import FaceEngine
import Foundation
import TestSupport

/// Measures the search for one face among a million: its time compared with one read of as many bytes from memory, the memory of the index,
/// and the share of the faces of an exact search that are among its candidates.
func benchmarkFaceSearch(faces: Int = 1_000_000, rounds: Int = 101) async throws -> [Figure] {
    let people = SyntheticFaces(count: faces)
    let probe = MemoryProbe(byteCount: faces * FaceCode.byteCount)
    let index = FaceIndex()
    // The memory that a block needs meanwhile does not belong to the index.
    await index.apply(added: people.codes(of: people.blocks[0]))
    await index.removeAll()
    let before = residentBytes()
    for block in people.blocks {
        await index.apply(added: people.codes(of: block))
    }
    let memory = Double(residentBytes() - before) / 1e6

    // The fastest of many rounds: other load makes a read from memory twice as slow, now for one and now for the other.
    var (ours, reads, isRead): ([Double], [Double], Bool) = ([], [], true)
    for round in 0..<rounds {
        let code = FaceCode(people.probes[round % people.probes.count])
        ours.append(try await milliseconds { _ = await index.candidates(for: code) })
        reads.append(try await milliseconds { isRead = await probe.read() && isRead })
    }
    precondition(isRead, "the probe reads to its end")
    var (found, wanted) = (0, 0)
    for (probe, exact) in zip(people.probes, people.exactMatches()) {
        let candidates = Set(await index.candidates(for: FaceCode(probe)))
        wanted += exact.count
        found += exact.count { candidates.contains(Int64($0 + 1)) }
    }
    return [
        Figure(
            "face_search_in_a_million", ours.min() ?? .nan, unit: "ms", reference: "reading 128 MB from memory once, one thread",
            referenceValue: reads.min() ?? .nan, bar: 1.3, moreIsBetter: false),
        Figure("face_search_memory", memory, unit: "MB", bar: 150, moreIsBetter: false),
        Figure(
            "face_search_recall", 100 * Double(found) / Double(wanted), unit: "% of \(wanted) faces that an exact search finds", bar: 99.9),
    ]
}

private func milliseconds(_ body: () async throws -> Void) async throws -> Double {
    let start = ContinuousClock.now
    try await body()
    return (ContinuousClock.now - start) / .milliseconds(1)
}

/// The memory of this process that is in use, in bytes.
private func residentBytes() -> Int {
    let statm = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    return Int(statm.split(separator: " ").dropFirst().first ?? "").map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } ?? 0
}

/// As many bytes as an index has, in huge pages as its own. They are read on a thread of its own, too: other load delays both alike.
private actor MemoryProbe {
    private let thread = FaceIndexThread()
    private nonisolated(unsafe) let buffer: UnsafeMutableRawBufferPointer

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(byteCount: Int) {
        buffer = .allocate(byteCount: byteCount, alignment: 1 << 21)
        #if os(Linux)
            madvise(buffer.baseAddress, byteCount, Int32(MADV_HUGEPAGE))
        #endif
        buffer.initializeMemory(as: UInt8.self, repeating: 1)
    }

    deinit { buffer.deallocate() }

    /// Reads all bytes: the C library searches for a byte that does not occur, with the widest vectors of the processor.
    func read() -> Bool { memchr(buffer.baseAddress!, 0, buffer.count) == nil }
}

/// Descriptors of people who do not exist, and of other photos of some of them.
///
/// Real descriptors do not fill their 128 dimensions: strangers are more similar than random directions. These descriptors lie in 40
/// dimensions and a little around them, so that an exact search finds strangers within the threshold, too.
private struct SyntheticFaces {
    private static let length = FaceDescriptor.count
    private static let dimensions = 40
    private static let probeCount = 500

    /// The people, in blocks whose descriptors fit in memory at once.
    let blocks: [Range<Int>]
    private let axes: [Float]
    private let probeVectors: [Float]

    init(count: Int) {
        blocks = stride(from: 0, to: count, by: 10_000).map { $0..<min($0 + 10_000, count) }
        var random = SeededGenerator(seed: 1)
        axes = Self.noise(Self.dimensions * Self.length, &random)
        var vectors: [Float] = []
        for number in 0..<Self.probeCount {
            let person = Self.vector(of: number * (count / Self.probeCount), axes)
            // Noise of this length across a unit vector is about the distance of the two.
            let noise = Self.unit(Self.noise(Self.length, &random))
            let distance = Float.random(in: 0.2...0.85, using: &random)
            vectors += Self.unit(zip(person, noise).map { $0 + distance * $1 })
        }
        probeVectors = vectors
    }

    func codes(of block: Range<Int>) -> [(number: Int64, code: FaceCode)] {
        block.map { (Int64($0 + 1), FaceCode(FaceDescriptor(normalising: Self.vector(of: $0, axes)))) }
    }

    var probes: [FaceDescriptor] {
        (0..<Self.probeCount).map { FaceDescriptor(normalising: Array(probeVectors[$0 * Self.length..<($0 + 1) * Self.length])) }
    }

    /// The people of each probe whose faces are within the threshold.
    func exactMatches() -> [[Int]] {
        let least = 1 - FaceThresholds.duplicate * FaceThresholds.duplicate / 2
        var matches = [[Int]](repeating: [], count: Self.probeCount)
        for block in blocks {
            let vectors = block.flatMap { Self.vector(of: $0, axes) }
            for number in 0..<Self.probeCount {
                for offset in 0..<block.count where product(number, vectors, offset) >= least {
                    matches[number].append(block.lowerBound + offset)
                }
            }
        }
        return matches
    }

    private func product(_ probe: Int, _ vectors: [Float], _ offset: Int) -> Float {
        probeVectors.withUnsafeBytes { probes in
            vectors.withUnsafeBytes { vectors in
                var sum = SIMD16<Float>()
                for part in stride(from: 0, to: Self.length * 4, by: 64) {
                    sum +=
                        probes.loadUnaligned(fromByteOffset: probe * Self.length * 4 + part, as: SIMD16<Float>.self)
                        * vectors.loadUnaligned(fromByteOffset: offset * Self.length * 4 + part, as: SIMD16<Float>.self)
                }
                return sum.sum()
            }
        }
    }

    /// The unit vector of a person: a sum of the axes, and a little noise.
    private static func vector(of person: Int, _ axes: [Float]) -> [Float] {
        var random = SeededGenerator(seed: UInt64(person) &* 0x2545_F491_4F6C_DD1D)
        var vector = noise(length, &random).map { $0 * 0.3 }
        let shares = noise(dimensions, &random)
        axes.withUnsafeBufferPointer { axes in
            for (axis, share) in shares.enumerated() {
                for at in 0..<length { vector[at] += share * axes[axis * length + at] }
            }
        }
        return unit(vector)
    }

    private static func unit(_ vector: [Float]) -> [Float] {
        let size = vector.reduce(0) { $0 + $1 * $1 }.squareRoot()
        return vector.map { $0 / size }
    }

    /// Numbers that are nearly normally distributed, with the deviation 1: sums of four bytes.
    private static func noise(_ count: Int, _ random: inout SeededGenerator) -> [Float] {
        (0..<count).map { _ in
            let bits = random.next()
            let sum = Float(bits & 0xFF) + Float(bits >> 8 & 0xFF) + Float(bits >> 16 & 0xFF) + Float(bits >> 24 & 0xFF)
            return (sum - 510) / 148
        }
    }
}
