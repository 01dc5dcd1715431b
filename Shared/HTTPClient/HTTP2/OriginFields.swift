internal import CNGHTTP2

/// Assembles the header fields of a call: those of the request, `:scheme`, `:authority` and `content-length`.
///
/// Confined to the client's thread. The strings of the origin live as long as this object, which outlives every session;
/// nghttp2 copies the length.
final class OriginFields {
    private static let maxLengthDigits = 20

    private let text: UnsafeMutableBufferPointer<UInt8>
    private let scheme: nghttp2_nv
    private let authority: nghttp2_nv
    private var length: nghttp2_nv
    private let digits: UnsafeMutableBufferPointer<UInt8>
    private var scratch = UnsafeMutableBufferPointer<nghttp2_nv>.allocate(capacity: 16)

    init(_ origin: HTTP2Origin) {
        let parts = [":scheme", origin.scheme, ":authority", origin.authority, "content-length"].map { Array($0.utf8) }
        text = .allocate(capacity: parts.reduce(0) { $0 + $1.count })
        digits = .allocate(capacity: Self.maxLengthDigits)
        digits.initialize(repeating: 0)
        var places: [UnsafeMutableBufferPointer<UInt8>] = []
        var offset = 0
        for part in parts {
            let place = UnsafeMutableBufferPointer(rebasing: text[offset..<offset + part.count])
            _ = place.initialize(from: part)
            places.append(place)
            offset += part.count
        }
        scheme = nghttp2_nv(name: places[0], value: places[1])
        authority = nghttp2_nv(name: places[2], value: places[3])
        length = nghttp2_nv(name: places[4], value: digits)
        length.flags = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)
    }

    deinit {
        text.deallocate()
        digits.deallocate()
        scratch.deallocate()
    }

    /// Returns the fields of a call; they are valid until the next call of this function.
    func fields(for request: HTTP2Request, bodyByteCount: Int) -> UnsafeMutableBufferPointer<nghttp2_nv> {
        let own = request.fields
        if scratch.count < own.count + 3 {
            scratch.deallocate()
            scratch = .allocate(capacity: (own.count + 3) * 2)
        }
        scratch.initializeElement(at: 0, to: own[0])
        scratch.initializeElement(at: 1, to: scheme)
        scratch.initializeElement(at: 2, to: authority)
        var count = 3
        for index in 1..<own.count {
            scratch.initializeElement(at: count, to: own[index])
            count += 1
        }
        if bodyByteCount > 0 || request.hasBody {
            scratch.initializeElement(at: count, to: lengthField(bodyByteCount))
            count += 1
        }
        return UnsafeMutableBufferPointer(rebasing: scratch[..<count])
    }

    private func lengthField(_ byteCount: Int) -> nghttp2_nv {
        var (index, rest) = (digits.count, byteCount)
        repeat {
            index -= 1
            digits[index] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        } while rest > 0
        var field = length
        field.value = digits.baseAddress.map { $0 + index }
        field.valuelen = digits.count - index
        return field
    }
}
