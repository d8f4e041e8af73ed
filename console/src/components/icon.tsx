const shapes = {
  trackers: 'M4 19V9m5 10V5m5 14v-7m5 7V8',
  keys: 'M12 15.500a4 4 0 1 1-8 0 4 4 0 0 1 8 0Zm-1.200-2.800L20 3.500m-4.200 4.200 2.800 2.800M13.200 10.300l2 2',
  erasures:
    'M12 3.500 5 6v5.500c0 4.200 2.800 7.300 7 9 4.200-1.700 7-4.800 7-9V6zM9 12l2.200 2.200L15.500 10',
  batches: 'M4 7.500 12 4l8 3.500-8 3.500zM4 12l8 3.500 8-3.500M4 16.500 12 20l8-3.500',
  settings:
    'M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm0-12v2.500m0 13V21M3 12h2.500m13 0H21M5.600 5.600l1.800 1.800m9.200 9.200 1.800 1.800m0-12.800-1.800 1.800m-9.200 9.200-1.800 1.800',
  print: 'M7 9V4h10v5M7 17H4V9h16v8h-3M7 14h10v6H7z',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Zm0-14v5l3.500 2',
  activity: 'M3 12h4l2.500-7 5 14 2.500-7h4',
  members:
    'M8.500 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7Zm-6 9c.4-3.600 2.800-5.500 6-5.500s5.600 1.900 6 5.500M16 4.300a3.500 3.500 0 0 1 0 6.400m2.300 4c1.800.9 2.900 2.700 3.200 5.300',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm0-13v1.500m0 15V21M3 12h1.500m15 0H21M5.600 5.600l1.100 1.100m10.600 10.600 1.100 1.100m0-12.800-1.100 1.100M6.700 17.300l-1.100 1.100',
  moon: 'M20 14.500A8.500 8.500 0 0 1 9.500 4 8.500 8.500 0 1 0 20 14.500Z',
  screen: 'M4 5h16v11H4zM9 20h6m-3-4v4',
  plus: 'M12 5v14M5 12h14',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'm5 12.500 4.500 4.500L19 7.500',
  close: 'M6 6l12 12M18 6 6 18',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm5-2 4.500 4.500',
  download: 'M12 4v11m-4.500-4L12 15.500 16.500 11M5 20h14',
  trash: 'M5 7h14M10 7V4.500h4V7m-7.500 0 .8 12.500h9.400L17.500 7M10.500 10.500v6m3-6v6',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  back: 'M14.500 6 8.500 12l6 6',
  next: 'm9.500 6 6 6-6 6',
  down: 'm6 9.500 6 6 6-6',
  alert: 'M12 4 2.800 19.500h18.400zM12 10v4.500m0 2.500v.01',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7.500 8.500c.5-4 3.500-6 7.500-6s7 2 7.500 6',
  out: 'M14 4h5v16h-5M4 12h10m-3.500-3.500L14 12l-3.500 3.500',
  terminal: 'M4 5h16v14H4zm3.500 4 3 3-3 3m5 0h4',
} as const

export type IconName = keyof typeof shapes

/** Decorative: hidden from screen readers. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={shapes[name]} />
    </svg>
  )
}

/** The river Lethe, with waves that fade. */
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M6.500 11c3.200-2.600 6.300-2.600 9.500 0s6.300 2.600 9.500 0" />
      <path d="M6.500 16.500c3.200-2.600 6.300-2.600 9.500 0s6.300 2.600 9.500 0" opacity=".62" />
      <path d="M6.500 22c3.200-2.600 6.300-2.600 9.500 0s6.300 2.600 9.500 0" opacity=".3" />
    </svg>
  )
}
