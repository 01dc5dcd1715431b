import CFaceNet
import TestSupport
import Testing

@testable import FaceEngine

@Suite struct FaceIndexTests {
    private static let paths = [HG_PATH_PORTABLE, HG_PATH_AVX2, HG_PATH_AVX512, HG_PATH_VNNI].filter { hg_path_available($0) != 0 }

    @Test func `every path finds what an exact search finds within the threshold`() async {
        for path in Self.paths {
            var random = SeededGenerator(seed: 7)
            let others = (0..<4_000).map { _ in FaceDescriptor.random(&random) }
            let index = FaceIndex(path: path)
            await index.apply(added: others.enumerated().map { (Int64($0.offset + 1), FaceCode($0.element)) })
            for _ in 0..<50 {
                let face = others.randomElement(using: &random)!.moved(by: Float.random(in: 0.1...0.79, using: &random), &random)
                let exact = others.indices.filter { others[$0].distance(to: face) <= FaceThresholds.duplicate }
                let found = await index.candidates(for: FaceCode(face))
                #expect(!exact.isEmpty && Set(exact.map { Int64($0 + 1) }).isSubset(of: found))
                #expect(found.count == FaceIndex.maxCandidates)
            }
        }
    }

    @Test func `the code of an encoded template is that of its mean, and other bytes have none`() {
        var random = SeededGenerator(seed: 14)
        let faces = (0..<3).map { _ in FaceDescriptor.random(&random) }
        let template = EnrolledFace(left: [faces[0]], right: [faces[1]], front: [faces[2]], isMirrored: false)
        let bytes = template.encoded()
        #expect(FaceCode(encodedTemplate: bytes) == FaceCode(template))
        #expect(FaceCode(encodedTemplate: Array(bytes.dropLast())) == nil)
        #expect(FaceCode(encodedTemplate: [UInt8](repeating: 0, count: bytes.count)) == nil)
        #expect(FaceCode(encodedTemplate: [UInt8](repeating: 0xFF, count: bytes.count)) == nil)
    }

    @Test func `the candidates are in the order of their likeness`() async {
        var random = SeededGenerator(seed: 8)
        let face = FaceDescriptor.random(&random)
        let index = FaceIndex()
        await index.apply(added: (1...5).map { (Int64($0), FaceCode(face.moved(by: 0.2 * Float($0), &random))) })
        #expect(await index.candidates(for: FaceCode(face)) == [1, 2, 3, 4, 5])
    }

    @Test func `a face that is removed is found no more, and its place is used again`() async {
        var random = SeededGenerator(seed: 9)
        let (first, second) = (FaceDescriptor.random(&random), FaceDescriptor.random(&random))
        let index = FaceIndex()
        await index.apply(added: [(41, FaceCode(first)), (42, FaceCode(second))])
        await index.apply(removed: [41, 7])
        #expect(await index.count == 1)
        #expect(await index.candidates(for: FaceCode(first)).first != 41)
        #expect(await index.missing(of: [41, 42]) == [41])
        await index.apply(added: [(43, FaceCode(first)), (42, FaceCode(second))])
        #expect(await index.numbers.sorted() == [42, 43])
        #expect(await index.candidates(for: FaceCode(first)).first == 43)
        #expect(await index.candidates(for: FaceCode(second)).first == 42)
        await index.removeAll()
        #expect(await index.count == 0)
        #expect(await index.candidates(for: FaceCode(first)).isEmpty)
    }

    @Test func `a number that is known gets the code anew, in its place`() async {
        var random = SeededGenerator(seed: 15)
        let (old, new) = (FaceDescriptor.random(&random), FaceDescriptor.random(&random))
        let index = FaceIndex()
        await index.apply(added: [(41, FaceCode(old)), (42, FaceCode(old))])
        await index.apply(added: [(41, FaceCode(new))])
        #expect(await index.numbers == [41, 42])
        #expect(await index.candidates(for: FaceCode(new)).first == 41)
        #expect(await index.candidates(for: FaceCode(old)).first == 42)
    }

    @Test func `faces beyond a chunk are found`() async {
        var random = SeededGenerator(seed: 10)
        let face = FaceDescriptor.random(&random)
        let index = FaceIndex()
        let other = FaceCode(face.moved(by: 1.3, &random))
        let last = Int64(FaceIndexChunk.capacity + 1)
        await index.apply(added: (1..<last).map { ($0, other) } + [(last, FaceCode(face))])
        #expect(await index.candidates(for: FaceCode(face)).first == last)
        await index.apply(removed: [last])
        #expect(await index.candidates(for: FaceCode(face)).first != last)
    }

    @Test func `searches and changes at once leave every face in its place`() async {
        var random = SeededGenerator(seed: 11)
        let codes = (0..<500).map { _ in FaceCode(FaceDescriptor.random(&random)) }
        let index = FaceIndex()
        await withTaskGroup { group in
            for (at, code) in codes.enumerated() {
                group.addTask {
                    let number = Int64(at + 1)
                    await index.apply(added: [(number, code)])
                    #expect(await index.candidates(for: code).first == number)
                    if at % 2 == 0 { await index.apply(removed: [number]) }
                }
            }
        }
        #expect(await index.count == 250)
        for at in stride(from: 1, to: 500, by: 2) { #expect(await index.candidates(for: codes[at]).first == Int64(at + 1)) }
    }

    @Test func `the table of places is a dictionary`() {
        var random = SeededGenerator(seed: 12)
        var (places, numbers, expected) = (FaceIndexPlaces(), [Int64](), [Int64: UInt32]())
        for _ in 0..<20_000 {
            let number = Int64.random(in: 1...600, using: &random)
            if let place = expected[number] {
                #expect(places.find(number) { numbers[Int($0)] } == place)
                if Bool.random(using: &random) {
                    #expect(places.remove(number) { numbers[Int($0)] } == place)
                    expected[number] = nil
                }
            } else {
                #expect(places.remove(number) { numbers[Int($0)] } == nil)
                numbers.append(number)
                places.insert(number, at: UInt32(numbers.count - 1)) { numbers[Int($0)] }
                expected[number] = UInt32(numbers.count - 1)
            }
        }
        #expect(places.count == expected.count)
        for (number, place) in expected { #expect(places.find(number) { numbers[Int($0)] } == place) }
    }

    @Test func `faces are of one person up to the threshold`() {
        var random = SeededGenerator(seed: 13)
        let face = FaceDescriptor.random(&random)
        func template(_ mean: FaceDescriptor) -> EnrolledFace {
            EnrolledFace(left: [mean], right: [mean], front: [mean], isMirrored: false)
        }
        let threshold = FaceThresholds.duplicate
        #expect(template(face).resembles(template(face.moved(by: threshold - 0.01, &random))))
        #expect(!template(face).resembles(template(face.moved(by: threshold + 0.01, &random))))
    }
}

extension FaceDescriptor {
    /// A random direction.
    static func random(_ random: inout SeededGenerator) -> FaceDescriptor {
        FaceDescriptor(normalising: (0..<count).map { _ in (0..<4).reduce(0) { sum, _ in sum + Float.random(in: -1...1, using: &random) } })
    }

    /// A random descriptor at this distance.
    func moved(by distance: Float, _ random: inout SeededGenerator) -> FaceDescriptor {
        let other = Self.random(&random)
        let along = zip(values, other.values).reduce(0) { $0 + $1.0 * $1.1 }
        let across = FaceDescriptor(normalising: zip(values, other.values).map { $1 - along * $0 })
        let cosine = 1 - distance * distance / 2
        let sine = (1 - cosine * cosine).squareRoot()
        return FaceDescriptor(normalising: zip(values, across.values).map { cosine * $0 + sine * $1 })
    }
}
