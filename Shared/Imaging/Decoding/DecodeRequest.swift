internal import ImageProbe

/// The order of a picture from a decoder: the file's format and limits, and how its picture is to be rendered.
struct DecodeRequest: Equatable, Sendable {
    /// The rendering of a picture, which is always upright and in eight bits a band.
    enum Rendering: Equatable, Sendable {
        /// Red, green and blue without the colour profile's correction, on black, for the face engine. A larger picture is scaled down.
        case plain(maxSide: Int, minSide: Int)
        /// sRGB in the frame that a job asks for.
        case framed(width: Int?, height: Int?, maxSide: Int, alpha: AlphaPolicy)
    }

    let format: ImageFormat
    /// The limits of the picture in the file.
    let limits: ImageLimits
    let rendering: Rendering
    /// Bytes of the file, which follows the request.
    let byteCount: Int
    /// Whether the end-of-image marker of a JPEG was added, so that none of its data may be missing.
    let isOpenEnded: Bool
}

extension DecodeRequest {
    private static let numberCount = 11
    /// Bytes of an encoded request.
    static let encodedBytes = numberCount * MemoryLayout<Int>.size
    /// The first number of a request; it changes with the protocol, so that worker and decoder are of the same release.
    private static let magic = 0x4847_4443_0002
    /// The number that stands for nil.
    private static let none = Int.min
    private static let alphaPolicies: [AlphaPolicy] = [.white, .kept]

    /// The request in the byte order of the machine, which worker and decoder share.
    var encoded: [UInt8] {
        var numbers = [Self.magic, ImageFormat.allCases.firstIndex(of: format) ?? 0, limits.side, limits.pixels, byteCount]
        switch rendering {
        case .plain(let maxSide, let minSide): numbers += [0, maxSide, minSide, 0, 0]
        case .framed(let width, let height, let maxSide, let alpha):
            numbers += [1, width ?? Self.none, height ?? Self.none, maxSide, Self.alphaPolicies.firstIndex(of: alpha) ?? 0]
        }
        numbers.append(isOpenEnded ? 1 : 0)
        return numbers.withUnsafeBytes { Array($0) }
    }

    /// Decodes a request; nil when the bytes are not a request of this protocol.
    init?(_ bytes: [UInt8]) {
        guard let numbers = Self.numbers(bytes, count: Self.numberCount), numbers[0] == Self.magic,
            ImageFormat.allCases.indices.contains(numbers[1]), numbers[4] >= 0
        else { return nil }
        format = ImageFormat.allCases[numbers[1]]
        limits = ImageLimits(side: numbers[2], pixels: numbers[3])
        byteCount = numbers[4]
        isOpenEnded = numbers[10] != 0
        switch numbers[5] {
        case 0: rendering = .plain(maxSide: numbers[6], minSide: numbers[7])
        case 1:
            guard Self.alphaPolicies.indices.contains(numbers[9]) else { return nil }
            rendering = .framed(
                width: numbers[6] == Self.none ? nil : numbers[6], height: numbers[7] == Self.none ? nil : numbers[7],
                maxSide: numbers[8], alpha: Self.alphaPolicies[numbers[9]])
        default: return nil
        }
    }

    /// Returns the numbers that bytes consist of; nil when they are of another length.
    static func numbers(_ bytes: [UInt8], count: Int) -> [Int]? {
        guard bytes.count == count * MemoryLayout<Int>.size else { return nil }
        return bytes.withUnsafeBytes { bytes in
            (0..<count).map { bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Int>.size, as: Int.self) }
        }
    }
}

extension DecodeRequest {
    /// Returns whether a picture of this size can be the answer: a compromised decoder may claim any size.
    ///
    /// The picture of a frame has exactly one possible size, which follows from that of the original.
    func allows(_ answer: DecodedSize) -> Bool {
        let original = answer.original
        guard original.isWithin(side: limits.side, pixels: limits.pixels) else { return false }
        let size = answer.size
        switch rendering {
        case .plain(let maxSide, let minSide):
            return answer.bands == 3 && min(original.width, original.height) >= minSide
                && size.isWithin(side: min(maxSide, original.longSide), pixels: limits.pixels)
        case .framed(let width, let height, let maxSide, let alpha):
            let frame = try? OutputFrame(of: original, width: width, height: height, maxSide: maxSide)
            return frame?.size == size && (answer.bands == 3 || answer.bands == 4 && alpha == .kept)
        }
    }
}
