internal import CVips
internal import Synchronization

/// Asks a caller now and then whether it still wants the pixels that libvips is computing, and stops it if not.
final class CancellationWatch: Sendable {
    private let isCancelled: @Sendable () -> Bool
    private let state = Mutex(false)

    /// True once the caller said that it wants no more.
    var hasStopped: Bool { state.withLock { $0 } }

    init(_ isCancelled: @escaping @Sendable () -> Bool) { self.isCancelled = isCancelled }

    /// Watches a picture and what is made of it, until the picture goes away.
    ///
    /// libvips tells of its progress after each band of rows, on a thread of its own while the caller's waits.
    func watch(_ picture: VipsPicture) {
        vips_image_set_progress(picture.image, 1)
        let onProgress: @convention(c) (UnsafeMutablePointer<VipsImage>?, gpointer?, gpointer?) -> Void = { image, _, watch in
            guard let image, let watch else { return }
            if Unmanaged<CancellationWatch>.fromOpaque(watch).takeUnretainedValue().check() { vips_image_set_kill(image, 1) }
        }
        g_signal_connect_data(
            picture.image, "eval", unsafeBitCast(onProgress, to: GCallback.self), Unmanaged.passRetained(self).toOpaque(),
            { watch, _ in if let watch { Unmanaged<CancellationWatch>.fromOpaque(watch).release() } }, GConnectFlags(rawValue: 0))
    }

    /// Throws when the caller wants no more.
    func checkpoint() throws(ImagingError) {
        if check() { throw ImagingError(.cancelled, "the caller wants the picture no more") }
    }

    private func check() -> Bool {
        if hasStopped { return true }
        guard isCancelled() else { return false }
        state.withLock { $0 = true }
        return true
    }
}
