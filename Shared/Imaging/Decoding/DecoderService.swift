internal import ImageProbe

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The work of a decoder: it decodes pictures from its standard input to pixels on its standard output, one after the other.
///
/// This is the only code that decodes, and `image-decoder` is the only program that runs it.
package enum DecoderService {
    /// The bytes that a decoder may map in addition to its libraries: the largest picture of the most demanding format takes half of it.
    package static let maxMemory = 768 << 20

    /// Prepares libvips, enters the sandbox, and answers requests until the worker closes the standard input.
    ///
    /// - Parameters:
    ///   - mode: The sandbox that the worker asks for.
    ///   - enter: Limits the process as the mode asks, and enters the sandbox unless that is off.
    /// - Returns: The exit status of the program.
    package static func run(_ mode: SandboxMode, enter: () -> SandboxState) -> Int32 {
        do throws(ImagingError) {
            try VipsLibrary.startDecoding()
            // Whatever libvips and its libraries load or open on first use, they do now.
            try WarmUpPictures.decode()
        } catch {
            DecoderPipe.write(DecoderMessage.failure(error).encoded)
            return EXIT_FAILURE
        }
        let state = enter()
        DecoderPipe.write(DecoderMessage.ready(state).encoded)
        guard state.satisfies(mode) else { return EXIT_FAILURE }
        while let bytes = DecoderPipe.read(DecodeRequest.encodedBytes) {
            guard let request = DecodeRequest(bytes), var file = DecoderPipe.read(request.byteCount) else { return EXIT_FAILURE }
            VipsLibrary.forgetMessages()
            if request.format == .heic { HEICReferences.hideAmbiguous(in: &file) }
            do throws(ImagingError) {
                try withBytes(of: file) { file throws(ImagingError) in
                    let picture = try request.rendered(file)
                    DecoderPipe.write(DecoderMessage.picture(picture.size).encoded)
                    try picture.pixels.passRows { rows in
                        DecoderPipe.write(DecoderMessage.header(.rows, byteCount: rows.count))
                        DecoderPipe.write(rows)
                    }
                }
                DecoderPipe.write(DecoderMessage.end.encoded)
            } catch {
                DecoderPipe.write(DecoderMessage.failure(error).encoded)
            }
        }
        return EXIT_SUCCESS
    }
}

extension DecodeRequest {
    /// Prepares the picture of a file.
    func rendered(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> (size: DecodedSize, pixels: RenderedPixels) {
        let file = try PictureFile(bytes, format: format, limits: limits, isOpenEnded: isOpenEnded)
        let picture: RenderedPixels
        switch rendering {
        case .plain(let maxSide, let minSide):
            guard min(file.stored.width, file.stored.height) >= minSide else {
                throw ImagingError(.tooSmall, "\(file.stored) pixels are fewer than the limit")
            }
            picture = try file.plain(maxSide: maxSide)
        case .framed(let width, let height, let maxSide, let alpha):
            let frame = try OutputFrame(of: file.upright, width: width, height: height, maxSide: maxSide)
            picture = .onDemand(try file.rendered(in: frame, alpha: alpha))
        }
        return (DecodedSize(size: picture.size, bands: picture.bands, original: file.upright), picture)
    }
}

/// The standard input and output of a decoder, without the buffers of the C library.
enum DecoderPipe {
    /// Reads exactly that many bytes; nil when the worker has closed its end.
    static func read(_ count: Int) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let step = systemRead(0, UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...]))
                guard step > 0 else { return }
                filled += step
            }
        }
        return bytes.count == count ? bytes : nil
    }

    static func write(_ bytes: [UInt8]) { bytes.withUnsafeBytes { write($0) } }

    /// Writes all bytes, or ends the program: without its worker it has no purpose.
    static func write(_ bytes: UnsafeRawBufferPointer) {
        var written = 0
        while written < bytes.count {
            let step = systemWrite(1, UnsafeRawBufferPointer(rebasing: bytes[written...]))
            guard step > 0 else { exit(EXIT_FAILURE) }
            written += step
        }
    }
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
