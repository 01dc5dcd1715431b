// The symbols of Apple's PhotosUI that the app of Examples uses.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation
public import SwiftUI

public struct PHPickerFilter: Sendable {
    public static var images: Self { Self() }
}

public struct PhotosPickerItem: Equatable, Hashable, Sendable {
    // Apple's takes any Transferable.
    public func loadTransferable(type: Data.Type) async throws -> Data? { nil }
}

public struct PhotosPicker: View {
    public init(_ title: String, selection: Binding<PhotosPickerItem?>, matching filter: PHPickerFilter? = nil) {}
    public var body: EmptyView { EmptyView() }
}
